"""The real data from the local mirror: known sizes, keys and samples."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from confidence_tasks.sources import SourceError, load
from confidence_tasks.study.trial import Question

SIZES = {
    "mmlu": 14_042,
    "gsm8k": 1_319,
    "truthfulqa": 817,
    "boolq": 3_270,
    "sciq": 1_000,
    "lsat_ar": 230,
    "sat_en": 206,
    "nq_open": 3_610,
    "trivia_qa": 3_000,  # a sample in this mirror
    "halueval": 2_000,
    "fermi": 1_000,
}


@pytest.fixture(scope="module")
def loaded(shared_data: Path) -> dict[str, list[Question]]:
    return {name: load(name, mirror=shared_data / "hub") for name in SIZES}


@pytest.mark.parametrize("name", SIZES)
def test_size_and_form(loaded, name: str) -> None:
    questions = loaded[name]
    assert len(questions) == SIZES[name]
    assert len({question.id for question in questions}) == len(questions)
    for question in questions:
        assert question.source == name
        assert question.id.startswith(f"{name}-")
        assert "/" not in question.id
        assert question.gold
        assert question.kind != "choice" or question.gold in question.options
        assert question.kind != "boolean" or question.gold in ("yes", "no")


@pytest.mark.parametrize("name", SIZES)
def test_smaller_samples_are_prefixes(loaded, mirror: Path, name: str) -> None:
    assert load(name, n=100) == loaded[name][:100]


def ids_digest(questions: list[Question]) -> str:
    return hashlib.sha256(" ".join(question.id for question in questions).encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("name", "seed", "digest"),
    [
        ("mmlu", 0, "2eb673da02a616b1"),
        ("mmlu", 1, "3263e37d578e6c93"),
        ("gsm8k", 0, "e41e0df2994b5fb1"),
        ("truthfulqa", 42, "2650535c8cff7203"),
    ],
)
def test_samples_never_change(mirror: Path, name: str, seed: int, digest: str) -> None:
    assert ids_digest(load(name, n=500, seed=seed)) == digest


def test_sample_does_not_depend_on_the_order_of_sources_or_earlier_loads(mirror: Path) -> None:
    first = load("truthfulqa", n=50, seed=9)
    load("mmlu", n=10, seed=9)
    assert load("truthfulqa", n=50, seed=9) == first


def test_mmlu_thousand_is_balanced_over_levels_and_subjects(loaded) -> None:
    sample = loaded["mmlu"][:1_000]
    assert Counter(q.level for q in sample) == dict.fromkeys(
        ("elementary", "high_school", "college", "professional", "other"), 200
    )
    subjects = Counter((q.level, q.subject) for q in sample)
    assert len(subjects) == 57
    for level in ("high_school", "college", "professional", "other"):
        counts = [count for (of, _), count in subjects.items() if of == level]
        assert max(counts) - min(counts) <= 1


def test_gsm8k_golds_with_commas_and_signs(loaded, shared_data: Path) -> None:
    golds = [q.gold for q in loaded["gsm8k"]]
    assert sum(gold.startswith("-") for gold in golds) == 2
    assert all(float(gold) == int(gold) for gold in golds)
    raw = (shared_data / "hub/openai/gsm8k/main/test.jsonl").read_text().split("\n")
    written = [json.loads(line)["answer"].rpartition("#### ")[2] for line in raw if line]
    assert sum("," in number for number in written) == 14
    assert sorted(number.replace(",", "") for number in written) == sorted(golds)


def test_truthfulqa_right_option_is_first_in_the_source_and_shuffled(loaded, shared_data: Path) -> None:
    raw = (
        (shared_data / "hub/truthfulqa/truthful_qa/multiple_choice/validation.jsonl").read_text().split("\n")
    )
    first = [json.loads(line)["mc1_targets"]["choices"][0] for line in raw if line]
    for question in loaded["truthfulqa"]:
        assert question.options[question.gold] == first[int(question.id.removeprefix("truthfulqa-"))]
    four = [q.gold for q in loaded["truthfulqa"] if len(q.choices) == 4]
    assert all(
        abs(Counter(four)[letter] - len(four) / 4) < 5 * (len(four) * 3 / 16) ** 0.5 for letter in "ABCD"
    )


def test_truthfulqa_of_another_revision_is_refused(shared_data: Path, tmp_path: Path) -> None:
    part = Path("truthfulqa/truthful_qa/multiple_choice/validation.jsonl")
    (tmp_path / part).parent.mkdir(parents=True)
    lines = (shared_data / "hub" / part).read_text().split("\n")
    (tmp_path / part).write_text("\n".join(lines[:790]))
    with pytest.raises(
        SourceError, match="790 rows, but revision 741b8276 of truthfulqa/truthful_qa has 817"
    ):
        load("truthfulqa", mirror=tmp_path)


def test_boolq_golds_are_the_publishers(loaded) -> None:
    assert Counter(q.gold for q in loaded["boolq"]) == {
        "yes": 2_033,
        "no": 1_237,
    }  # Clark et al. 2019: 62% yes
    assert all(q.metadata["passage"] for q in loaded["boolq"])


def test_exam_questions_have_their_passage_but_not_their_options(loaded) -> None:
    for name in ("lsat_ar", "sat_en"):
        for question in loaded[name]:
            assert "Answer Choices" not in question.text
            assert not any(option.startswith("(") for option in question.choices)
            assert question.text.startswith(question.metadata["passage"])
            assert question.text.endswith(question.metadata["question"])
    assert {len(q.choices) for q in loaded["lsat_ar"]} == {5}
    assert {len(q.choices) for q in loaded["sat_en"]} == {4}


def test_halueval_has_the_rows_and_ids_of_the_paper(loaded, shared_data: Path) -> None:
    rows = (shared_data / "halueval_ids.csv").read_text().split()[1:]
    assert {q.id for q in loaded["halueval"]} == {f"halueval-{row}_{kind}" for row in rows for kind in "rh"}
    raw = (shared_data / "hub/pminervini/HaluEval/qa/data.jsonl").read_text().split("\n")
    texts = dict(zip(rows, (json.loads(line) for line in raw if line), strict=True))
    columns = {"r": "right_answer", "h": "hallucinated_answer"}
    for question in loaded["halueval"]:
        row, _, kind = question.id.removeprefix("halueval-").partition("_")
        assert question.text == texts[row]["question"]
        assert question.metadata["answer"] == texts[row][columns[kind]]


def test_halueval_of_other_rows_is_refused(shared_data: Path, tmp_path: Path) -> None:
    raw = (shared_data / "hub/pminervini/HaluEval/qa/data.jsonl").read_text().split("\n")[:1_000]
    path = tmp_path / "pminervini/HaluEval/qa/data.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(reversed(raw)))
    with pytest.raises(SourceError, match=r"halueval: 1000 rows, but revision 12a85611 .* has 10000"):
        load("halueval", mirror=tmp_path)


def test_halueval_samples_have_as_many_right_as_hallucinated_answers(loaded) -> None:
    assert Counter(q.gold for q in loaded["halueval"][:500]) == {"yes": 250, "no": 250}


TRAIN = {
    "trivia_qa_train": ("mandarjoshi/trivia_qa/unfiltered.nocontext", 87_622),
    "nq_open_train": ("google-research-datasets/nq_open/nq_open", 87_925),
}
"""Folders of the train splits that the log-probability study's author draws from, and their sizes on the hub."""


def trivia_row(i: int) -> dict[str, object]:
    return {"question": f"Q{i}?", "question_id": f"t{i}", "answer": {"value": "X", "aliases": ["X"]}}


def natural_row(i: int) -> dict[str, object]:
    return {"question": f"q{i}", "answer": ["X"]}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "row"), [("trivia_qa_train", trivia_row), ("nq_open_train", natural_row)])
def test_a_train_split_may_be_a_sample_and_has_no_more_rows_than_on_the_hub(
    name: str, row: Callable[[int], dict[str, object]], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, size = TRAIN[name]
    path = tmp_path / folder / "train.jsonl"
    path.parent.mkdir(parents=True)
    lines = [json.dumps(row(i)) for i in range(size + 1)]
    path.write_text("\n".join(lines[:3]))
    assert len(load(name, mirror=tmp_path)) == 3
    assert f"the mirror holds a sample, 3 of {size} rows" in caplog.text
    path.write_text("\n".join(lines))
    with pytest.raises(SourceError, match=f"{size + 1} rows, but revision .* has {size}"):
        load(name, mirror=tmp_path)


def test_trivia_answers_have_their_aliases(loaded) -> None:
    onion = next(q for q in loaded["trivia_qa"] if q.id == "trivia_qa-tqa-0")
    assert onion.gold == "Onion"
    assert "Pyaz" in onion.aliases
    assert "Onion" not in onion.aliases


def test_seed_changes_order_and_options_but_not_the_question(mirror: Path) -> None:
    one = {q.id: q for q in load("truthfulqa", seed=1)}
    two = {q.id: q for q in load("truthfulqa", seed=2)}
    assert one.keys() == two.keys()
    assert list(one) != list(two)
    assert all(one[i].options[one[i].gold] == two[i].options[two[i].gold] for i in one)
    assert sum(one[i].choices != two[i].choices for i in one) > len(one) / 2


def test_sciq_has_the_options_in_the_order_of_the_authors_whatever_the_seed(
    shared_data: Path, mirror: Path
) -> None:
    rows = [
        json.loads(line) for line in (mirror / "allenai/sciq/default/test.jsonl").read_text().splitlines()
    ]
    orders = [line.split(",")[1] for line in (shared_data / "sciq_order.csv").read_text().split()[1:]]
    for seed in (0, 7):
        questions = {question.id: question for question in load("sciq", seed=seed)}
        for number, (row, order) in enumerate(zip(rows, orders, strict=True)):
            question = questions[f"sciq-{number:03d}"]
            written = [
                row[column] for column in ("correct_answer", "distractor1", "distractor2", "distractor3")
            ]
            assert list(question.choices) == [written[int(digit)] for digit in order]
            assert question.options[question.gold] == row["correct_answer"]
