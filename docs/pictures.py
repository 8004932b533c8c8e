"""Draw the pictures of the pages about statistics, one a family of measures: ``python docs/pictures.py``.

``python docs/pictures.py studies`` draws those of the pages about studies instead, from runs of simulated subjects.
``python docs/pictures.py screens`` takes those of the README, in Chromium: its first run in the viewer, and a report.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from csv import DictReader
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import norm

from confidence_tasks.statistics import (
    acceptance_threshold,
    confidence_sequence,
    ece,
    gate_test,
    reliability_curve,
)
from confidence_tasks.statistics.decision import optimal_threshold
from confidence_tasks.statistics.discrimination import auroc2, type2_roc_curve
from confidence_tasks.statistics.life_table import best_guess, death_distribution
from confidence_tasks.statistics.reliability import variance_components
from confidence_tasks.statistics.selective import risk_coverage_curve

FOLDER = Path(__file__).parent / "images" / "statistics"
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
"""Of Okabe and Ito's palette, which people with any colour vision can tell apart; lines differ in style too."""


def answers(
    n: int = 2000, bias: float = 1.0, meta: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return correctness and confidence of a subject with d' = 1.5, its metacognition and its bias."""
    rng = np.random.default_rng(seed)
    stimulus = rng.choice([-1.0, 1.0], n)
    evidence = rng.normal(0.75 * stimulus)
    correct = np.sign(evidence) == stimulus
    seen = (
        np.abs(evidence) + rng.normal(0.0, np.sqrt(1.0 / meta**2 - 1.0), n)
        if meta < 1.0
        else np.abs(evidence)
    )
    confidence = 1.0 / (1.0 + np.exp(-1.5 * np.abs(seen) * bias))
    return correct.astype(float), confidence


def calibration(axes: Axes) -> None:
    """Draw a reliability diagram; the ECE is the mean height of the bars."""
    for bias, colour, marker, name in ((1.0, BLUE, "o", "calibrated"), (2.2, ORANGE, "s", "overconfident")):
        right, sure = answers(bias=bias)
        curve = reliability_curve(right, sure, bins=10)
        some = curve.count > 20
        axes.plot(
            curve.confidence[some],
            curve.accuracy[some],
            color=colour,
            marker=marker,
            label=f"{name}, ECE {ece(right, sure):.2f}",
        )
        axes.vlines(
            curve.confidence[some],
            curve.accuracy[some],
            curve.confidence[some],
            color=colour,
            alpha=0.4,
            lw=4,
        )
    axes.plot([0.5, 1.0], [0.5, 1.0], color=GREY, ls=":")
    axes.set(xlabel="confidence", ylabel="share right")


def discrimination(axes: Axes) -> None:
    """Draw two type-2 ROC curves."""
    for meta, colour, style, name in ((1.0, BLUE, "-", "ideal"), (0.5, ORANGE, "--", "noisy")):
        right, sure = answers(meta=meta)
        curve = type2_roc_curve(right, sure)
        label = f"{name}, AUROC {auroc2(right, sure):.2f}"
        axes.plot(curve.false_alarm_rate, curve.hit_rate, color=colour, ls=style, label=label)
    axes.plot([0, 1], [0, 1], color=GREY, ls=":")
    axes.set(xlabel="wrong answers at least so sure", ylabel="right answers at least so sure")


def selective(axes: Axes) -> None:
    """Draw the accuracy of the surest answers."""
    for meta, colour, style, name in ((1.0, BLUE, "-", "ideal"), (0.5, ORANGE, "--", "noisy")):
        curve = risk_coverage_curve(*answers(meta=meta))
        axes.plot(curve.coverage[40:], curve.accuracy[40:], color=colour, ls=style, label=name)
    axes.axhline(answers()[0].mean(), color=GREY, ls=":", label="no signal")
    axes.set(xlabel="share of questions answered, the surest first", ylabel="share right")


def acceptance(axes: Axes) -> None:
    """Draw the accuracy of the answers that a threshold accepts, and the threshold that guarantees 90%."""
    right, sure = answers(n=2000, bias=1.3)
    thresholds = np.linspace(0.5, 0.98, 100)
    accuracy = np.array([right[sure >= threshold].mean() for threshold in thresholds])
    axes.plot(thresholds, accuracy, color=BLUE, label="observed")
    axes.axhline(0.9, color=GREY, ls=":", label="required")
    reached = thresholds[accuracy >= 0.9][0]
    guaranteed = acceptance_threshold(right, sure, accuracy=0.9).threshold
    axes.axvline(reached, color=ORANGE, ls="--", label=f"observed to reach it, {reached:.2f}")
    axes.axvline(guaranteed, color=GREEN, ls="-.", label=f"guaranteed to reach it, {guaranteed:.2f}")
    axes.set(xlabel="threshold of confidence", ylabel="share right of accepted answers")


def sequential(axes: Axes) -> None:
    """Draw an interval of the overconfidence that holds at all times, and the bound that it passes."""
    right, sure = answers(n=1000)
    found = confidence_sequence(sure - right, bounds=(-1.0, 1.0), bound=0.1)
    questions = np.arange(1, 1001)
    axes.fill_between(questions, found.low, found.high, color=BLUE, alpha=0.3, label="interval at all times")
    mean = np.cumsum(sure - right) / questions
    axes.plot(questions[9:], mean[9:], color=BLUE, label="overconfidence so far")
    axes.axhline(0.1, color=GREY, ls=":", label="bound")
    decided = int(questions[found.high < 0.1][0])
    axes.axvline(decided, color=ORANGE, ls="--", label=f"known after {decided}")
    axes.set(xlabel="questions", ylabel="confidence - correctness", ylim=(-0.4, 0.6))


def peeking(axes: Axes) -> None:
    """Draw how many studies at the bound have decided so far, and are wrong, if one looks after every question."""
    rng, n_studies, questions = np.random.default_rng(0), 400, np.arange(1, 1001)
    by_interval, by_gate = np.zeros((2, len(questions)))
    for _ in range(n_studies):
        right, sure = rng.random(len(questions)) < 0.8, rng.choice([0.7, 0.9, 1.0], len(questions))
        gap = sure - right
        mean = np.cumsum(gap) / questions
        error = np.sqrt((np.cumsum(gap**2) / questions - mean**2) / questions)
        excludes = np.abs(mean - BOUND) > 1.96 * error
        excludes[:29] = False
        by_interval += np.maximum.accumulate(excludes)
        decided = gate_test(gap, BOUND, bounds=(-1.0, 1.0)).n_decided
        by_gate += (questions >= decided) * (decided > 0)
    for count, colour, style, name in (
        (by_interval, ORANGE, "--", "an ordinary 95% interval excludes the bound"),
        (by_gate, BLUE, "-", "stop= has decided"),
    ):
        axes.plot(questions, 100.0 * count / n_studies, color=colour, ls=style, label=name)
    axes.axhline(5.0, color=GREY, ls=":", label="5%")
    axes.set(
        xlabel="questions, with a look after each", ylabel="wrong decisions so far, % of runs", ylim=(0, 60)
    )


BOUND = np.mean([0.7, 0.9, 1.0]) - 0.8
"""The true overconfidence of the runs of this picture."""


def sdt(axes: Axes) -> None:
    """Draw the evidence of two stimuli, and the criteria of confidence."""
    x = np.linspace(-4, 4, 400)
    for mean, colour, style, name in ((-0.75, BLUE, "-", "key: no"), (0.75, ORANGE, "--", "key: yes")):
        axes.plot(x, norm.pdf(x, mean), color=colour, ls=style, label=name)
    axes.axvline(0.0, color="black", lw=1)
    for criterion in (-1.5, -0.7, 0.7, 1.5):
        axes.axvline(criterion, color=GREY, ls=":")
    axes.annotate("", (-0.75, 0.41), (0.75, 0.41), arrowprops={"arrowstyle": "<->"})
    axes.text(0.1, 0.42, "d'")
    for x0, text in ((-2.7, "no, sure"), (2.7, "yes, sure"), (-0.35, "no?"), (0.35, "yes?")):
        axes.text(x0, 0.46, text, ha="center", fontsize=7)
    axes.set(xlabel="evidence", ylabel="density", ylim=(0, 0.5), yticks=[])


def decision(axes: Axes) -> None:
    """Draw what an answer is worth under three penalties, and where it pays."""
    p = np.linspace(0, 1, 50)
    for penalty, colour, style in ((0.5, BLUE, "-"), (2.0, GREEN, "-."), (10.0, ORANGE, "--")):
        axes.plot(p, p - penalty * (1 - p), color=colour, ls=style, label=f"λ = {penalty:g}")
        axes.plot(float(optimal_threshold(penalty)), 0.0, "o", color=colour)
    axes.axhline(0.0, color=GREY, ls=":")
    axes.set(xlabel="chance of being right", ylabel="expected points of an answer", ylim=(-3, 1.1))


def discretization(axes: Axes) -> None:
    """Draw what a subject states that is fond of round numbers."""
    rng = np.random.default_rng(0)
    stated = np.round(100 * answers(n=600, bias=1.6)[1])
    stated = np.where(rng.random(600) < 0.8, 5 * np.round(stated / 5), stated)
    values, counts = np.unique(stated, return_counts=True)
    round_ones = values % 5 == 0
    axes.bar(values[round_ones], counts[round_ones], color=ORANGE, label="multiples of 5")
    axes.bar(
        values[~round_ones], counts[~round_ones], color=BLUE, hatch="////", edgecolor="white", label="others"
    )
    axes.set(xlabel="stated confidence, %", ylabel="replies", xlim=(45, 102))


def information(axes: Axes) -> None:
    """Draw the uncertainty about correctness that is left at each confidence."""
    curve = reliability_curve(*answers(n=20_000), bins=10, binning="equal_mass")
    share = curve.accuracy
    left = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
    p = float(np.sum(share * curve.count) / np.sum(curve.count))
    before = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    axes.bar(range(1, 11), left, color=BLUE, label="left, knowing the confidence")
    axes.axhline(before, color=ORANGE, ls="--", label="before")
    axes.set(xlabel="tenth of the replies, by confidence", ylabel="bits", ylim=(0, 1.35))


def intervals(axes: Axes) -> None:
    """Draw how often intervals hold the truth that are right, and that show a part of the belief."""
    asked = np.array([0.9, 0.95, 0.99, 0.998])
    x = np.arange(4)
    axes.plot(x, asked, "o-", color=BLUE, label="ideal: as asked")
    axes.plot(x, 0.65 * asked, "s--", color=ORANGE, label="sees 65% of its belief")
    axes.set(xlabel="coverage asked", ylabel="coverage", ylim=(0.4, 1.05))
    axes.set_xticks(x, [f"{100 * level:g}%" for level in asked])


def life_table(axes: Axes) -> None:
    """Draw the ages at death of someone of 60, and the best guess within ten years."""
    with (files("confidence_tasks.sources") / "data" / "us_ssa_period_2022.csv").open() as file:
        rows = list(DictReader(file))
    q = [float(row["female_qx"]) for row in rows]
    deaths = death_distribution(q, 60)
    guess = best_guess(q, minimum_age=60, radius=10)
    ages = np.arange(deaths.size)
    inside = (ages >= guess.age - 10) & (ages < guess.age + 10)
    axes.bar(ages[~inside], deaths[~inside], color=BLUE, width=1.0)
    label = f"{guess.age} ± 10: {float(guess.score):.2f}"
    axes.bar(
        ages[inside], deaths[inside], color=ORANGE, width=1.0, hatch="//", edgecolor="white", label=label
    )
    axes.set(xlabel="age at death of a woman of 60", ylabel="probability", xlim=(58, 112))


def inference(axes: Axes) -> None:
    """Draw the ECE that a calibrated subject shows by chance."""
    for n, colour, hatch in ((100, ORANGE, "//"), (1000, BLUE, "")):
        shown = [float(ece(*answers(n=n, seed=seed))) for seed in range(400)]
        edges = np.linspace(0, 0.14, 36)
        axes.hist(
            shown, edges, color=colour, alpha=0.6, hatch=hatch, edgecolor="white", label=f"{n} questions"
        )
    axes.set(xlabel="ECE of a subject whose ECE is 0", ylabel="of 400 studies")


def reliability(axes: Axes) -> None:
    """Draw the confidence in twelve questions that were asked five times, around the mean of each."""
    rng = np.random.default_rng(0)
    sure = np.sort(rng.normal(0.72, 0.08, 12))[:, None] + rng.normal(0.0, 0.05, (12, 5))
    questions = np.repeat(np.arange(1, 13), 5)
    found = variance_components(sure.ravel(), questions)
    axes.plot(
        questions,
        sure.ravel(),
        "o",
        color=BLUE,
        alpha=0.5,
        label=f"within questions, SD {found.within**0.5:.2f}",
    )
    axes.plot(
        np.arange(1, 13),
        sure.mean(axis=1),
        "_",
        color=ORANGE,
        ms=14,
        mew=2,
        label=f"between questions, SD {found.between**0.5:.2f}",
    )
    axes.set(
        xlabel="question", ylabel="confidence", title=f"share of variance between questions {found.share:.2f}"
    )


def coverage(axes: Axes) -> None:
    """Draw the share of studies whose interval holds the truth, from the first table of reliability_tables.md."""
    lines = (Path(__file__).parent / "reliability_tables.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| `")]
    shown = [row for row in rows if row[0] in SHOWN and len(row) == 9]
    for name, column, colour, marker in (
        ("typical, n = 100", 1, BLUE, "o"),
        ("typical, 1,000", 3, BLUE, "x"),
        ("calibrated, 100", 4, ORANGE, "s"),
        ("expert, 200", 8, GREEN, "^"),
    ):
        axes.plot(
            [float(row[column].split()[0]) for row in shown],
            range(len(shown)),
            marker,
            color=colour,
            label=name,
        )
    axes.axvspan(93, 97, color=GREY, alpha=0.2)
    axes.set(xlabel="of 100 intervals of 95% hold the truth", xlim=(85, 100))
    axes.set_yticks(range(len(shown)), [row[0] for row in shown])
    axes.invert_yaxis()


SHOWN = ("accuracy", "ece", "brier", "auroc", "mratio", "meta_d", "meta_information", "round_share")

PICTURES: tuple[Callable[[Axes], None], ...] = (
    *(
        calibration,
        discrimination,
        selective,
        acceptance,
        sequential,
        peeking,
        sdt,
        information,
        discretization,
    ),
    *(decision, intervals, life_table, reliability, inference, coverage),
)


def main() -> None:
    """Write the pictures."""
    mpl.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "confidence_tasks", "font.size": 9, "legend.frameon": False}
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    for draw in PICTURES:
        figure = Figure(figsize=(4.6, 3.1), layout="constrained")
        axes = figure.add_subplot()
        axes.spines[["top", "right"]].set_visible(False)
        draw(axes)
        axes.legend(loc="center right" if draw is sdt else "best")
        figure.savefig(FOLDER / f"{draw.__name__}.svg", metadata={"Date": None})


@dataclass(frozen=True)
class Example:
    """The run whose figure stands at the top of a study's page."""

    figure: str
    task: str
    subjects: tuple[str, ...]
    parameters: tuple[str, ...]


EXAMPLES = (
    Example(
        "scale_granularity_histograms",
        "scale_granularity",
        ("ideal", "overconfident"),
        ("sources=arithmetic", "n=200"),
    ),
    Example("lifeeval_reliability", "lifeeval", ("ideal", "overconfident"), ()),
    Example("fermieval_calibration", "fermieval", ("ideal", "tunnel"), ("n=200",)),
    Example(
        "riskeval_decisions", "riskeval", ("ideal", "partial", "reckless"), ("source=arithmetic", "n=60")
    ),
    Example(
        "nlp_metad_type2_roc",
        "nlp_metad",
        ("ideal", "overconfident"),
        ("source=arithmetic", "n=200", "temperatures=0.3,0.7,1"),
    ),
    Example(
        "signals_worth_and_price",
        "signals",
        ("ideal",),
        ("n=200", "samples=5", "signals=stated,words,mean_logprob,p_true,agreement,semantic_entropy"),
    ),
)


OF_A_BENCHMARK = Example(
    "capitals_reliability",
    "with_confidence",
    ("ideal", "overconfident"),
    (f"task={Path(__file__).resolve().parents[1]}/examples/capitals.py@capitals",),
)
"""The run whose figure stands on the page about benchmarks."""


def studies() -> None:
    """Write the pictures of the pages about studies and benchmarks."""
    target = FOLDER.parent / "studies"
    target.mkdir(exist_ok=True)
    for example in (*EXAMPLES, OF_A_BENCHMARK):
        with tempfile.TemporaryDirectory() as folder:
            for subject in example.subjects:
                run_task(example.task, subject, example.parameters, folder, "logs")
            subprocess.run(["confidence-tasks", "report", "logs", "--figures", "."], cwd=folder, check=True)
            shutil.copy(Path(folder, f"{example.figure}.svg"), target)


def run_task(task: str, subject: str, parameters: Iterable[str], folder: str, logs: str) -> None:
    """Run a task on a simulated subject and write its log into a folder."""
    chosen = [part for parameter in parameters for part in ("-T", parameter)]
    command = ["inspect", "eval", f"confidence_tasks/{task}", *chosen, "--model", f"simulated/{subject}"]
    subprocess.run([*command, "--log-dir", logs, "--display", "none"], cwd=folder, check=True)


RUNS = {
    "boolq": ["source=arithmetic_boolean", "n=600"],
    "lifeeval": ["n=60"],
    "riskeval": ["source=arithmetic", "n=20", "penalties=0,1,10"],
}
"""Parameters of the tasks of the report's picture; the first is the README's first run."""

PORT = 7597
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def screens() -> None:
    """Write the pictures of the README."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for task, parameters in RUNS.items():
            for subject in ("ideal", "overconfident"):
                run_task(task, subject, parameters, folder, f"{task}_{subject}")
        subprocess.run(["confidence-tasks", "report", "."], cwd=folder, check=True)
        (log,) = Path(folder, "boolq_overconfident").glob("*.eval")
        command = ["inspect", "view", "--log-dir", str(log.parent), "--port", str(PORT)]
        viewer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            next(line for line in viewer.stdout or () if "Running" in line)
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
            page = browser.new_page(viewport={"width": 1560, "height": 558})
            page.goto(f"http://127.0.0.1:{PORT}/#/logs/{log.name}")
            page.locator("[role=row]").nth(5).wait_for()
            page.wait_for_timeout(2000)  # until the columns have their widths
            shown = {"x": 0, "y": 28, "width": 1560, "height": 530}  # without the log's folder
            page.screenshot(path=FOLDER.parent / "viewer.png", clip=shown)
            page.set_viewport_size({"width": 1280, "height": 860})
            page.goto(Path(folder, "report.html").as_uri())
            page.screenshot(path=FOLDER.parent / "report.png")
            browser.close()
        finally:
            viewer.terminate()


if __name__ == "__main__":
    {"screens": screens, "studies": studies}.get(" ".join(sys.argv[1:]), main)()
