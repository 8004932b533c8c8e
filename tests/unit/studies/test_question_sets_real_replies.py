"""The readers of LifeEval and the question sets on 4,908 real replies, against the authors' own parse."""

from pathlib import Path

import pytest

from confidence_tasks.studies.lifeeval.question_sets.reader import (
    OptionsReading,
    read_boolean_reply,
    read_judgement,
    read_options_reply,
)
from confidence_tasks.studies.lifeeval.reader import read_lifeeval_reply
from confidence_tasks.study.trial import READABLE, Reading

from .question_sets_replies import BREAK_OFF, DISAGREEMENTS, NO_COMMITMENT, RealReply, real_replies

OPTIONS = {"sciq": 4, "lsat_ar": 5, "sat_en": 4}


def read(reply: RealReply) -> Reading:
    """Read a reply without its question; the texts of the options are unknown."""
    if reply.task == "lifeeval":
        return read_lifeeval_reply(reply.text)
    if reply.task == "boolq":
        return read_boolean_reply(reply.text)
    if reply.task == "halueval":
        return read_judgement(reply.text, "")
    return read_options_reply(reply.text, [f"option {i}" for i in range(OPTIONS[reply.task])])


def agrees(reading: Reading, theirs: dict[str, str]) -> bool:
    """Return True if a reading has the values of the authors' parse."""
    answers = {"yes": "True", "no": "False"}
    stated = theirs.get("Answer")
    if isinstance(reading, OptionsReading):
        probabilities = tuple(float(theirs[letter]) for letter in "ABCDE"[: len(reading.stated)])
        return reading.answer == stated and reading.stated == probabilities
    same_number = reading.answer.isdigit() and stated is not None and float(reading.answer) == float(stated)
    same_answer = stated is None or same_number or answers.get(reading.answer) == stated
    return same_answer and reading.confidence_raw == float(theirs["Confidence"])


@pytest.fixture(scope="module")
def readings(shared_data: Path) -> dict[tuple[str, str, str], tuple[Reading, dict[str, str] | None]]:
    return {
        (reply.task, reply.model, reply.id): (read(reply), reply.theirs)
        for reply in real_replies(shared_data)
    }


def of(ids: dict[tuple[str, str], str]) -> set[tuple[str, str, str]]:
    return {(task, model, id) for (task, model), listed in ids.items() for id in listed.split()}


def test_all_replies_are_there(readings):
    assert len(readings) == 4908


def test_the_readers_read_more_replies_than_the_authors_parse(readings):
    ours = sum(reading.status in READABLE for reading, _ in readings.values())
    theirs = sum(parsed is not None for _, parsed in readings.values())
    assert (ours, theirs) == (4832, 4756)


def test_replies_that_both_read_have_the_same_values(readings):
    both = {key: pair for key, pair in readings.items() if pair[1] and pair[0].status in READABLE}
    assert len(both) == 4755
    assert {key for key, (reading, theirs) in both.items() if not agrees(reading, theirs)} == set()


@pytest.mark.parametrize("ours", [True, False], ids=["only ours reads", "only theirs reads"])
def test_every_disagreement_is_known_and_explained(readings, ours):
    found = {
        key
        for key, (reading, theirs) in readings.items()
        if (reading.status in READABLE) is ours and (theirs is None) is ours
    }
    explained = [case.replies for case in DISAGREEMENTS if case.ours is ours]
    assert found == set().union(*explained)
    assert len(found) == sum(map(len, explained))


def test_replies_that_neither_reads_are_truncated_or_commit_to_no_answer(readings):
    neither = {
        key for key, (reading, theirs) in readings.items() if reading.status not in READABLE and not theirs
    }
    assert neither == of(BREAK_OFF) | of(NO_COMMITMENT)


def test_a_truncated_reply_has_no_confidence(readings):
    assert {readings[key][0].status for key in of(BREAK_OFF)} == {"missing_confidence", "unreadable"}


def test_a_reply_that_does_not_commit_has_no_answer(readings):
    statuses = {readings[key][0].status for key in of(NO_COMMITMENT)}
    assert statuses == {"missing_answer", "refused", "unreadable"}
