"""``confidence-tasks plan``: what a run will cost, before any call."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.logs.texts import printable
from confidence_tasks.report.commands.options import json_option, parse_with
from confidence_tasks.report.commands.printing import print_json, print_message, print_table
from confidence_tasks.report.commands.reading import as_click_error
from confidence_tasks.report.labels import measure_label, number
from confidence_tasks.sources.source import Source

if TYPE_CHECKING:
    from confidence_tasks.decisions.plan import Detectable, Price, RunPlan, StageTotal

NUMBERS = frozenset({"calls", "prompt tokens", "reply tokens", "reply tokens at most"})


def _parse_prices(text: str) -> tuple[float, float]:
    """Return the prices of a million tokens of prompts and of replies."""
    try:
        prompt, reply = (float(part) for part in text.split(","))
    except ValueError:
        prompt = reply = math.nan
    if not (0.0 <= prompt < math.inf and 0.0 <= reply < math.inf):
        raise ValueError(
            f"{text!r} are no prices: write those of a million tokens of prompts and of replies, such as 2.5,10"
        )
    return prompt, reply


@click.command(
    epilog="""\b
Examples:
  confidence-tasks plan boolq -T n=500 --price 2.5,10
  confidence-tasks plan riskeval -T source=arithmetic -T penalties=1,10 --epochs 3
  confidence-tasks plan with_confidence -T task=inspect_evals/gpqa_diamond -T ask=0-100,p_true
  confidence-tasks plan scale_granularity --tokenizer o200k_base --model openai/gpt-4o"""
)
@click.argument("task")
@click.option(
    "-T", "given", multiple=True, metavar="NAME=VALUE", help="Parameter of the task; may be repeated."
)
@click.option(
    "--model",
    default="",
    metavar="MODEL",
    help="Model of the run, for Inspect's price of it. A simulated subject replies itself and shares no call.",
)
@click.option("--epochs", type=click.IntRange(1), help="Number of epochs.  [default: that of the task]")
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    help="Limit of reply tokens that the run will have, for the largest price.",
)
@click.option(
    "--tokenizer",
    default="",
    metavar="NAME",
    help="Tokenizer of this machine: an encoding of tiktoken, or the folder of a transformers tokenizer."
    "  [default: 4 characters per token]",
)
@click.option(
    "--price",
    "prices",
    callback=parse_with(_parse_prices),
    metavar="PROMPT,REPLY",
    help="Price of a million prompt tokens and of a million reply tokens, such as 2.5,10.",
)
@click.option(
    "--model-cost-config",
    envvar="INSPECT_EVAL_MODEL_COST_CONFIG",
    metavar="FILE",
    help="Inspect's file of prices, in which MODEL is looked up.",
)
@json_option
def plan(
    task: str,
    given: tuple[str, ...],
    model: str,
    epochs: int | None,
    max_tokens: int | None,
    tokenizer: str,
    prices: tuple[float, float] | None,
    model_cost_config: str | None,
    as_json: bool,
) -> None:
    """Show what a run of TASK on Inspect will cost, and what it can find, before any call.

    TASK is made as `inspect eval` makes it, so that a wrong name or value is refused with the same words. The calls are
    counted by running all stages on the real questions, with a simulated subject that replies: no model is called, and
    nothing is downloaded but the questions of the task. Prompt tokens are those of the real prompts. Reply tokens are
    those of the simulated replies, which have the format that is asked for and no reasoning.
    """
    from confidence_tasks.decisions.plan import PlannedTask, detectable, known_prices, plan_run
    from confidence_tasks.decisions.tokens import token_counter
    from confidence_tasks.harness.compat import parameter_values

    with as_click_error():
        counter = token_counter(tokenizer)
        price = known_prices(prices, model, model_cost_config)
        with _downloads_shown():
            planned = PlannedTask.make(task, parameter_values(given))
        profile = model.removeprefix("simulated/") if model.startswith("simulated/") else ""
        found = plan_run(planned, counter, profile=profile, epochs=epochs, max_tokens=max_tokens)
    differences = detectable(planned)
    if as_json:
        print_json(_record(found, price, differences))
    else:
        _print_plan(found, price)
        _print_detectable(found.study, differences)


class _Printed(logging.Handler):
    """Prints what is logged."""

    def emit(self, record: logging.LogRecord) -> None:
        print_message(record.getMessage())


@contextmanager
def _downloads_shown() -> Iterator[None]:
    """Print which sources are downloaded, before each download."""
    logger, handler = logging.getLogger(Source.__module__), _Printed()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


def _record(plan: RunPlan, price: Price | None, differences: list[Detectable]) -> dict[str, Any]:
    """Return a plan for JSON."""
    total = plan.total()
    cost = None
    if price:
        cost = {
            **dataclasses.asdict(price),
            "typical": price.of(total.prompt_tokens, total.reply_tokens),
            "at_most": price.of(total.prompt_tokens, total.most_reply_tokens),
        }
    return {
        **dataclasses.asdict(plan),
        "n_calls": plan.n_calls,
        "total": dataclasses.asdict(total),
        "price": cost,
        "detectable": [dataclasses.asdict(each) for each in differences],
    }


def _print_plan(plan: RunPlan, price: Price | None) -> None:
    """Print the calls of a run by stage, their tokens and their price."""
    click.echo(f"{click.style(printable(plan.task), bold=True)}: {_design(plan)}")
    rows = [_row(stage) for stage in plan.stages]
    if len(plan.stages) > 1:
        others = any(stage.role for stage in plan.stages)
        rows.append({**_row(plan.total()), "stage": "all without roles" if others else "all"})
    print_table(rows, NUMBERS)
    print_message(_how_counted(plan), err=False)
    if price:
        print_message(_costs(plan, price), err=False)
    if plan.scorer_roles:
        print_message(
            f"The scorer calls {', '.join(plan.scorer_roles)} up to {plan.n_samples * plan.epochs:,} times each; these"
            " calls are not in the table.",
            err=False,
        )
    for note in plan.notes:
        print_message(note, err=False)


def _design(plan: RunPlan) -> str:
    """Return the design of a run in words: a product where it is one."""
    conditions = len(plan.conditions)
    asked = f"{plan.n_questions:,} questions"
    is_crossed = plan.n_samples % plan.n_questions == 0 and set(plan.conditions.values()) == {
        plan.n_questions
    }
    if is_crossed and conditions > 1:
        asked += f" × {conditions} conditions"
    elif conditions > 1:
        asked += f", each under one of {conditions} conditions"
    if is_crossed and (efforts := plan.n_samples // (plan.n_questions * conditions)) > 1:
        asked += f" × {efforts} efforts"
    if plan.epochs > 1:
        asked += f" × {plan.epochs} epochs"
    return f"{asked}; {plan.n_calls:,} calls"


def _row(stage: StageTotal) -> dict[str, str]:
    role = f" ({stage.role})" if stage.role else ""
    return {
        "stage": printable(f"{stage.stage}{role}"),
        "calls": f"{stage.n_calls:,}",
        "prompt tokens": f"{stage.prompt_tokens:,.0f}",
        "reply tokens": f"{stage.reply_tokens:,.0f}",
        "reply tokens at most": "no limit"
        if math.isinf(stage.most_reply_tokens)
        else f"{stage.most_reply_tokens:,.0f}",
    }


def _how_counted(plan: RunPlan) -> str:
    """Return how tokens were counted, and what they are those of."""
    text = (
        f"Tokens ({printable(plan.counter)}) are those of the messages as they are sent, without a chat template, and"
        f" of the replies of a simulated subject ({plan.subject}). A model that reasons or explains writes more"
    )
    if math.isinf(plan.total().most_reply_tokens):
        return f"{text}, and no limit is set: --max-tokens sets one."
    return f"{text}, at most the last column."


def _costs(plan: RunPlan, price: Price) -> str:
    """Return the price of a run, typical and at most."""
    total = plan.total()
    typical = price.of(total.prompt_tokens, total.reply_tokens)
    text = (
        f"Price: {_amount(typical)} ({price.prompt:g} and {price.reply:g} per million tokens, {price.source})"
    )
    if math.isfinite(total.most_reply_tokens):
        text += f"; at most {_amount(price.of(total.prompt_tokens, total.most_reply_tokens))}"
    others = ", ".join(dict.fromkeys(stage.role for stage in plan.stages if stage.role))
    return f"{text}, without {others}." if others else f"{text}."


def _amount(price: float) -> str:
    """Return a price with two decimals, or two digits below 1.

    Examples
    --------
    >>> _amount(1234.567), _amount(0.00345)
    ('1,234.57', '0.0034')
    """
    return f"{price:,.2f}" if price >= 1.0 or price == 0.0 else f"{price:.2g}"


def _print_detectable(study: str, differences: list[Detectable]) -> None:
    """Print the differences that the questions of a run can show."""
    if not differences:
        print_message(
            "What this run can find is not known: `confidence-tasks power --list` has no design for its study.",
            err=False,
        )
        return
    known = [each for each in differences if not math.isnan(each.difference)]
    first = differences[0]
    under = f" under {first.condition}" if first.condition else ""
    if known:
        parts = ", ".join(f"{measure_label(each.measure)} {number(each.difference, 3)}" for each in known)
        print_message(
            f"With {first.n_questions:,} readable questions{under}, `compare` finds a difference of two models with 80%"
            f" power if it is about: {parts}. More epochs find somewhat smaller ones.",
            err=False,
        )
    if len(known) < len(differences):
        names = ", ".join(each.measure for each in differences if each not in known)
        print_message(
            f"For {names}: `confidence-tasks power {study} --measure NAME --effect EFFECT --n {first.n_questions}`.",
            err=False,
        )
