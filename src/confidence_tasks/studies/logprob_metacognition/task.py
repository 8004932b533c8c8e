"""Log-probability metacognition as a task: short answers at several temperatures, and what their tokens say.

Cacioli (2026), arXiv:2603.25112.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Logprobs,
    Model,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.harness.fewshot import held_out
from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.model_calls import ask_once, require_roles
from confidence_tasks.harness.inspect.parameters import validate_parameters
from confidence_tasks.harness.inspect.samples import Item, dataset, listed, one_of, without_shown_question
from confidence_tasks.harness.inspect.token_probabilities import ProbabilityGate, has_probabilities, is_local
from confidence_tasks.harness.inspect.viewer import provenance, viewer
from confidence_tasks.harness.questions import question_of
from confidence_tasks.harness.reply_seed import is_simulated, reply_seed
from confidence_tasks.sources import Question, load
from confidence_tasks.studies.logprob_metacognition import STUDY
from confidence_tasks.studies.logprob_metacognition.prompts import (
    TEMPERATURES,
    answer_prompt,
    condition_of,
    temperature_of,
)
from confidence_tasks.studies.logprob_metacognition.trials import (
    CLASSIFIER_ROLE,
    DOMAIN_CHOICES,
    GOLD_NLP,
    HEADLINE,
    RATINGS,
    nlp_metad_scorer,
    nlp_summary,
)

VERSION = "1-A"

PAPER_SIZES = {"trivia_qa": 5_000, "nq_open": 3_000}
"""Questions asked of a source when ``n`` is not given (section 3.1)."""

SHORT_ANSWERS = {"arithmetic": "arithmetic_number"}
"""Sources with options, and their form without."""

KINDS = ("text", "number")
"""What short answers may be."""

ALL_TEMPERATURES = ",".join(f"{temperature:g}" for temperature in TEMPERATURES)

LONGEST_REPLY = 64
"""Tokens: enough for a short answer, too few for a model that reasons first."""

PURPOSE = "nlp_metad needs"


def logprob_items(
    source: str,
    temperatures: Sequence[float],
    *,
    n: int | None = None,
    seed: int = 42,
    fewshot: int = 0,
    mirror: str | None = None,
) -> Iterator[Item]:
    """Yield every question at every temperature, question by question.

    Parameters
    ----------
    source : str
        Name of a question source, or path of a question file.
    temperatures : sequence of float
        The conditions.
    n : int, optional
        Number of questions; by default the paper's, or all where the source has fewer.
    seed : int
        Seed of the sample of questions.
    fewshot : int
        Worked examples before each question, from questions that are not asked.
    mirror : str, optional
        Folder with local copies of hub data sets.

    Raises
    ------
    ValueError
        If the source's questions have no short answers.
    """
    size = PAPER_SIZES.get(source) if n is None else n
    total = None if size is None else size + fewshot
    questions = load(SHORT_ANSWERS.get(source, source), n=total, seed=seed, mirror=mirror)
    for question in questions:
        if question.kind not in KINDS or question.gold is None:
            raise ValueError(
                f"source={source}: question {question.id} has no short answer as its key (it is of the kind "
                f"{question.kind}); nlp_metad asks questions of the kinds {' and '.join(KINDS)}, such as those of "
                "trivia_qa, nq_open and arithmetic"
            )
    asked, shown = held_out(questions, fewshot)
    examples = tuple((answer_prompt(question.text), question.gold or "") for question in shown)
    for question in asked:
        for temperature in temperatures:
            yield Item(
                question,
                condition_of(temperature),
                answer_prompt(question.text),
                examples=examples,
                metadata={"temperature": temperature},
            )


@solver
def sample_answer(seed: int, force_gold: bool = False, cache: bool = True) -> Solver:
    """Ask at the temperature of the condition, and see to it that the reply's own log-probabilities are known."""
    gate = ProbabilityGate(PURPOSE)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model, asked = get_model(), list(state.messages)
        temperature = float(state.metadata["temperature"])
        refuse_settings(model, temperature, force_gold)
        call_seed = reply_seed(model, state, seed, simulated=state.epoch - 1)
        if is_local(model):
            state = await ask_once(state, generate, cache, temperature=temperature or None)
            await _score_locally(model, state, asked)
        else:
            settings = {"temperature": temperature, "seed": call_seed, "logprobs": True}
            state = await gate(model, lambda: ask_once(state, generate, cache, has_probabilities, **settings))
        if force_gold:
            question = question_of(state.metadata)
            state.store.set(
                GOLD_NLP, await _gold_mean_logprob(model, asked, question, temperature, call_seed)
            )
        return state

    return solve


def refuse_settings(model: Model, temperature: float, force_gold: bool) -> None:
    """Raise a ValueError, before anything is asked, for what a provider cannot do.

    Inspect's ``hf`` provider samples or not, whatever the temperature, by an argument of the model.
    """
    if force_gold and not (is_local(model) or is_simulated(model)):
        raise ValueError(
            f"force_gold puts the right answer in the model's mouth, which {model} has no interface for: use a model "
            "of the hf provider, lm-eval's nlp_metad with force_gold, or leave force_gold out"
        )
    samples = getattr(model.api, "do_sample", True)
    if is_local(model) and samples != (temperature > 0.0):
        raise ValueError(
            f"the hf provider decodes greedily just when do_sample is false: at a temperature of {temperature:g} "
            + ("add -M do_sample=false" if samples else "leave -M do_sample=false out")
        )


async def _score_locally(model: Model, state: TaskState, asked: list[ChatMessage]) -> None:
    """Put the log-probabilities of what was said in the place of those that the provider reports."""
    from confidence_tasks.harness.inspect.local_scores import text_logprobs

    content = await text_logprobs(model, asked, state.output.completion)
    state.output.choices[0].logprobs = Logprobs(content=content)


async def _gold_mean_logprob(
    model: Model, asked: list[ChatMessage], question: Question, temperature: float, call_seed: int
) -> float:
    from confidence_tasks.harness.inspect.local_scores import forced_text, text_logprobs
    from confidence_tasks.harness.inspect.simulated import SimulatedSubject
    from confidence_tasks.reading.answer_tokens import answer_tokens
    from confidence_tasks.simulation.reply import call_seed as call_seed_of
    from confidence_tasks.studies.logprob_metacognition.subject import gold_mean_logprob
    from confidence_tasks.study.stage import Token

    if isinstance(model.api, SimulatedSubject):
        its_seed = call_seed_of(model.api.seed, temperature, call_seed)
        return gold_mean_logprob(question, model.api.subject, its_seed)
    gold = question.gold or ""
    text = forced_text(model, asked, gold)
    tokens = [Token(item.token, item.logprob, {}) for item in await text_logprobs(model, asked, text)]
    return answer_tokens(tokens, text, len(text) - len(gold), len(text)).mean_logprob


def temperatures_of(value: str | float | list[float]) -> list[float]:
    """Return the temperatures that a user names.

    Raises
    ------
    ValueError
        If there is none, or one is not in 0 to 2.

    Examples
    --------
    >>> temperatures_of("0.7, 1.0,1")
    [0.7, 1.0]
    """
    return list(dict.fromkeys(map(temperature_of, listed(value, "temperatures"))))


@task
@validate_parameters
def nlp_metad(
    source: str = "trivia_qa",
    temperatures: str | float | list[float] = ALL_TEMPERATURES,
    n: int | None = None,
    seed: int = 42,
    k: int = RATINGS,
    domains: str = "lexicon",
    fewshot: int = 0,
    force_gold: bool = False,
    cache: bool = True,
    mirror: str | None = None,
) -> Task:
    """Ask for short answers, and test whether the log-probability of an answer tells right ones from wrong ones.

    Parameters
    ----------
    source : str
        Name of a question source (the paper's are trivia_qa and nq_open), or path of a question file; the keys must be
        short texts or numbers.
    temperatures : list of float
        Temperatures of sampling, one condition each; 0 is greedy decoding.
    n : int, optional
        Number of questions; by default 5,000 of trivia_qa and 3,000 of nq_open, all of any other source.
    seed : int
        Seed of the sample of questions, and of sampling where the provider takes one.
    k : int
        Number of confidence levels on either side: the log's metrics cut log-probabilities into 2k ratings where they
        cut them. Report and ``compare`` cut them into the paper's 8.
    domains : {"lexicon", "model"}
        Who sorts questions into domains of knowledge: a list of words, or the model in the role ``domain_classifier``.
    fewshot : int
        Worked examples before each question, for small and base models.
    force_gold : bool
        Also ask how probable the right answer would have been, for the paper's check R5; providers hf and simulated.
    cache : bool
        Keep replies, so that a run that was killed repeats no call.
    mirror : str, optional
        Folder with local copies of hub data sets.
    """
    chosen = temperatures_of(temperatures)
    who = one_of(DOMAIN_CHOICES, domains, "domains")
    conditions = [condition_of(temperature) for temperature in chosen]
    items = logprob_items(source, chosen, n=n, seed=seed, fewshot=fewshot, mirror=mirror)
    headline = condition_of(1.0) if 1.0 in chosen else conditions[0]
    data = dataset(items, "log-probability metacognition")
    return Task(
        name="nlp_metad",
        dataset=data,
        setup=[without_shown_question(), require_roles([CLASSIFIER_ROLE] if who == "model" else [])],
        solver=sample_answer(seed, force_gold, cache),
        scorer=nlp_metad_scorer(who, cache),
        metrics=metrics_of(STUDY, nlp_summary, overall=[headline], conditions=conditions, ratings=k),
        config=GenerateConfig(max_tokens=LONGEST_REPLY),
        version=VERSION,
        metadata={**provenance(seed, data), "k": k},
        headline_metric=HeadlineMetric(metric=f"{HEADLINE}/{headline}"),
        viewer=viewer(STUDY),
    )
