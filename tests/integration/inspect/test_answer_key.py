"""A simulated subject is told the question of the call it answers, and no other: equal prompts have their own keys."""

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.solver import generate
from lm_eval.api.instance import Instance

from confidence_tasks.harness.inspect.viewer import dataset
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.sources import Question
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.studies.scales.replies import scale_prompt
from confidence_tasks.study.trial import Item, question_metadata

QUESTIONS = [
    Question(f"twin-{i}", "demo", "Is the sky blue?", "boolean", ("yes", "no")[i % 2]) for i in range(20)
]
ABOUT = {"study": STUDY.address, "elicitation": "verbal"}
DOC = {**ABOUT, "condition": "0-100"}
PROMPT = scale_prompt(QUESTIONS[0], Scale(0, 100))


def test_on_inspect_equal_prompts_are_answered_by_the_key_of_each_sample(tmp_path):
    items = [Item(question, "0-100", PROMPT, metadata=ABOUT) for question in QUESTIONS]
    task = Task(dataset=dataset(items, "twins"), solver=generate())
    (log,) = inspect_eval(
        task,
        model="simulated/ideal",
        model_args={"d_prime": 10.0},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    said = [sample.output.completion.splitlines()[0] for sample in log.samples or []]
    assert said == [f"Answer: {sample.target}" for sample in log.samples or []]
    assert len(set(said)) == 2


def test_on_lm_eval_equal_prompts_are_answered_by_the_key_of_each_document():
    requests = [
        Instance("generate_until", DOC | question_metadata(question), (PROMPT, {}), 0)
        for question in QUESTIONS
    ]
    said = [reply.splitlines()[0] for reply in SimulatedLM(d_prime=10.0).generate_until(requests)]
    assert said == [f"Answer: {question.gold}" for question in QUESTIONS]


def test_a_prompt_that_no_task_of_this_package_asks_has_no_key(tmp_path):
    from inspect_ai.dataset import Sample

    task = Task(dataset=[Sample(input="Is the sky blue?")], solver=generate())
    (log,) = inspect_eval(task, model="simulated/ideal", log_dir=str(tmp_path), display="none")
    assert log.status == "error"
    assert log.error is not None
    assert "can only answer the questions of confidence_tasks tasks" in log.error.message
