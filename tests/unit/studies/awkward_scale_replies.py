r"""Awkward replies, each labelled by hand, before the reader existed, with the reading of a careful human.

How the human reads, where it is not obvious:

* Where a rule would need one more exception, nothing is read: a missing confidence is better than a clever guess. So a
  confidence has a label at the start of its line, or behind the answer on its line, or stands before a word such as
  ``sure`` in a reply without a label, and is one number in digits.
* The number said is the number read. Nothing is converted from one scale to another: ``85%`` says 85, which is
  right on 0-100 and off the scale on 0-20. ``15%`` on 0-20 says 15: nobody answers and then gives himself 15 in a
  hundred, while a percent sign out of habit is common.
* A number that itself names another scale (``4/5`` on 0-20, ``0.85`` on 0-100) is not a report on the scale asked
  for, and is not read.
* Of several answers the last counts (the model changed its mind), but not what follows a question that the model
  made up itself. Two options in one answer are no answer.
* What is quoted, in code or struck through is not said. An answer that is taken back is none.
* A number for every option is a distribution, not the one report that was asked for.
* Declining to answer (cannot, will not, does not know) is ``refused``, whatever confidence goes with it.

Rows that nobody writes are gone together with the rules that read them. The other labels stand as they were, except for
answers and confidences that are no longer guessed, and five slips: numbers are asked for in the form with a solution
(two), blank space that nobody sees is no departure from the format (two), and ``-$5`` is as plain as ``$5``.
"""

from __future__ import annotations

from typing import NamedTuple

from confidence_tasks.study.trial import Kind, Status

NAN = float("nan")

CAPITALS = ("Paris", "London", "Rome", "Berlin")
NUMBERS = ("4", "5", "6", "7")
SENTENCES = (
    "Nothing happens to you",
    "You get sick",
    "You get sick and then recover",
    "Nothing happens, as far as anybody knows",
)
COMBINED = ("Iron", "Copper", "Both Iron and Copper", "None of the above")
LAW = ("legal", "not legal", "legal only in France", "void")


class Awkward(NamedTuple):
    """One reply and its reading."""

    reply: str
    scale: str
    answer: str
    confidence_raw: float
    status: Status
    kind: Kind = "choice"
    choices: tuple[str, ...] = CAPITALS


def number(reply: str, scale: str, answer: str, confidence_raw: float, status: Status) -> Awkward:
    return Awkward(reply, scale, answer, confidence_raw, status, "number", ())


def boolean(reply: str, scale: str, answer: str, confidence_raw: float, status: Status) -> Awkward:
    return Awkward(reply, scale, answer, confidence_raw, status, "boolean", ())


def text(reply: str, scale: str, answer: str, confidence_raw: float, status: Status) -> Awkward:
    return Awkward(reply, scale, answer, confidence_raw, status, "text", ())


# fmt: off
STRICT = [
    Awkward("Answer: B\nConfidence: 17", "0-20", "B", 17, "ok"),
    Awkward("Answer: B\n\nConfidence: 17\n", "0-20", "B", 17, "ok"),
    Awkward("  Answer: B  \r\n  Confidence: 17  \r\n", "0-20", "B", 17, "ok"),
    Awkward("Answer: (B) London\nConfidence: 0", "0-20", "B", 0, "ok"),
    Awkward("Answer: B) London\nConfidence: 20", "0-20", "B", 20, "ok"),
    Awkward("Answer: B.\nConfidence: 100", "20-100", "B", 100, "ok"),
    Awkward("Answer: London\nConfidence: 38", "3-38", "B", 38, "ok"),
    number("Answer: 18\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Solution: a\nFinal Answer: 1,234\nConfidence: 95", "0-100", "1234", 95, "ok"),
    number("Solution: 3 + 4 = 7\nFinal Answer: 7\nConfidence: 5", "0-5", "7", 5, "ok"),
    number("Solution:\n1. She has 16 eggs.\n2. She eats 3 and bakes 4, so 16 - 7 = 9 are left.\n"
        "3. 9 * $2 = $18.\n\nFinal Answer: $18\n\nConfidence: 73",
        "0-73", "18", 73, "ok"),
    number("Solution: halve it\nFinal Answer: 0.5\nConfidence: 86", "14-86", "0.5", 86, "ok"),
    number("Solution: below zero\nFinal Answer: -3\nConfidence: 86", "14-86", "-3", 86, "ok"),
    boolean("Answer: Yes\nConfidence: 9", "0-10", "yes", 9, "ok"),
    boolean("Answer: False\nConfidence: 9", "0-10", "no", 9, "ok"),
    text("Answer: Marie Curie\nConfidence: 9", "0-10", "Marie Curie", 9, "ok"),
]

LABELS = [
    Awkward("**Answer:** B\n**Confidence:** 17", "0-20", "B", 17, "repaired"),
    Awkward("**Answer**: B\n**Confidence**: 17/20", "0-20", "B", 17, "repaired"),
    Awkward("**Answer: B**\n**Confidence: 17**", "0-20", "B", 17, "repaired"),
    Awkward("__Answer:__ *B*\n__Confidence:__ `17`", "0-20", "B", 17, "repaired"),
    Awkward("### Answer: B\n### Confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("### Answer\nB\n\n### Confidence\n17", "0-20", "B", 17, "repaired"),
    Awkward("Answer:\nB\nConfidence:\n17", "0-20", "B", 17, "repaired"),
    Awkward("Answer:\n\nB) London\n\nConfidence:\n\n17", "0-20", "B", 17, "repaired"),
    Awkward("- Answer: B\n- Confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("1. Answer: B\n2. Confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("> Answer: B\n> Confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("ANSWER: B\nCONFIDENCE: 17", "0-20", "B", 17, "repaired"),
    Awkward("answer: b\nconfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: b\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer = B\nConfidence = 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer : B\nConfidence : 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer：B\nConfidence：17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B Confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B, Confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B; Confidence: 17.", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B (Confidence: 17)", "0-20", "B", 17, "repaired"),
    Awkward("Answer: London | Confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Confidence: 17\nAnswer: B", "0-20", "B", 17, "repaired"),
    Awkward("Final Answer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("My answer: B\nMy confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Correct answer: B\nConfidence level: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence score: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence rating: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence (0-20): 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence (out of 20): 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence in my answer: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence is 17", "0-20", "B", 17, "repaired"),
    Awkward("The answer is B.\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: The answer is B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: the correct option is (B) London.\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("The capital is London, so the correct answer is B. My confidence is 17.", "0-20", "B", 17, "repaired" ),
    Awkward("The answer is C. I'm 90% sure of this.", "0-100", "C", 90.0, "repaired"),
    Awkward("Sure! Here is my answer:\n\nAnswer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17\n\nLet me know if you have any other questions!", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17\nExplanation: London has been the capital since 1066.",
        "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nExplanation: It was founded in 43 AD.\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("B) London\n17/20", "0-20", "B", NAN, "missing_confidence"),
    Awkward("B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("London\n\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward(": B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward(" B\nConfidence: 17", "0-20", "B", 17, "repaired"),
]

CONTAINERS = [
    Awkward('Here is the response:\n\n{"Answer": "B", "Confidence": 17}\n\nLondon it is.', "0-20", "B", 17, "repaired"),
    Awkward('{"Answer": "B", "Confidence": 17}\nQuestion: What next?\n{"Answer": "A", "Confidence": 3}',
        "0-20", "B", 17, "repaired"),
    Awkward('{"Answer": "B", "Confidence": 17}', "0-20", "B", 17, "repaired"),
    Awkward('```json\n{\n  "answer": "B",\n  "confidence": 17\n}\n```', "0-20", "B", 17, "repaired"),
    Awkward('{"answer": "B) London", "confidence": "17"}', "0-20", "B", 17, "repaired"),
    Awkward("{'Answer': 'B', 'Confidence': '17/20'}", "0-20", "B", 17, "repaired"),
    Awkward("```\nAnswer: B\nConfidence: 17\n```", "0-20", "B", 17, "repaired"),
    Awkward("```text\nAnswer: B\nConfidence: 17\n```", "0-20", "B", 17, "repaired"),
    Awkward("`Answer: B`\n`Confidence: 17`", "0-20", "B", 17, "repaired"),
    Awkward("<answer>B</answer>\n<confidence>17</confidence>", "0-20", "B", 17, "repaired"),
    Awkward("<p><b>Answer:</b> B</p><p><b>Confidence:</b> 17</p>", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B<br>Confidence: 17<br>", "0-20", "B", 17, "repaired"),
    Awkward("answer: B\nconfidence: 17\n...", "0-20", "B", 17, "repaired"),
    Awkward("Answer: <B>\nConfidence: <17>", "0-20", "B", 17, "repaired"),
    Awkward("Answer: [B]\nConfidence: [17]", "0-20", "B", 17, "repaired"),
    Awkward('Answer: "B"\nConfidence: "17"', "0-20", "B", 17, "repaired"),
    Awkward("Answer: “London”\nConfidence: ‘17’", "0-20", "B", 17, "repaired"),
    Awkward("Answer: $\\boxed{B}$\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: \\boxed{\\text{B}}\nConfidence: \\boxed{17}", "0-20", "B", 17, "repaired"),
    Awkward("\\boxed{B}\n\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("$$\\boxed{\\textbf{(B) London}}$$\nConfidence: $17$", "0-20", "B", 17, "repaired"),
    Awkward("Answer: \\(B\\)\nConfidence: \\(17\\)", "0-20", "B", 17, "repaired"),
    Awkward("Answer: $\\mathbf{B}$\nConfidence: $\\mathbf{17}$", "0-20", "B", 17, "repaired"),
]

THOUGHTS = [
    Awkward("<think>Is it A? No.</think>\nAnswer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("<think>\nAnswer: A\nConfidence: 3\nhmm, no.\n</think>\n\nAnswer: B\nConfidence: 17",
        "0-20", "B", 17, "repaired"),
    Awkward("Perhaps A, 90.\n</think>\nAnswer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("<think>Answer: A\nConfidence: 3\nbut then again", "0-20", "", NAN, "unreadable"),
    Awkward("<thinking>A?</thinking><answer>B</answer> Confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("<reasoning>\nA is wrong\n</reasoning>\nAnswer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("◁think▷hmm, A◁/think▷Answer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("<|channel|>analysis<|message|>Answer: A? no<|end|><|start|>assistant<|channel|>final<|message|>"
        "Answer: B\nConfidence: 17<|return|>",
        "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17<|im_end|>", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17</s>", "0-20", "B", 17, "repaired"),
    Awkward("<|eot_id|>Answer: B\nConfidence: 17<|eot_id|>", "0-20", "B", 17, "repaired"),
    Awkward("Let me think. There are 4 options; in 1900 it was A. Today that has changed.\n\nAnswer: B\nConfidence: 17",
        "0-20", "B", 17, "repaired"),
    Awkward("<think></think>Answer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("<think>a</think>Answer: A\nConfidence: 1\n<think>b</think>Answer: B\nConfidence: 17",
        "0-20", "B", 17, "repaired"),
]

UNICODE = [
    Awkward("Answer: B\nConfidence: １７", "0-20", "B", 17, "repaired"),
    Awkward("Ａｎｓｗｅｒ：Ｂ\nＣｏｎｆｉｄｅｎｃｅ：１７", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: ١٧", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: १७", "0-20", "B", 17, "repaired"),
    Awkward("𝐀𝐧𝐬𝐰𝐞𝐫: 𝐁\n𝐂𝐨𝐧𝐟𝐢𝐝𝐞𝐧𝐜𝐞: 𝟏𝟕", "0-20", "B", 17, "repaired"),
    Awkward("Answer: Ⓑ\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer:\u00a0B\nConfidence:\u00a017", "0-20", "B", 17, "ok"),
    Awkward("\ufeffAnswer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: \u200bB\u200b\nConfidence: 1\u200b7", "0-20", "B", 17, "repaired"),
    Awkward("✅ Answer: B\n📊 Confidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\u2028Confidence: 17", "0-20", "B", 17, "ok"),
    Awkward("Answer: B\nConfidence: ⑰", "0-20", "B", 17, "repaired"),
    Awkward("Answer: Β\nConfidence: 17", "0-20", "B", 17, "repaired"),  # a Greek capital beta
    Awkward("• Answer: B\n• Confidence: 17", "0-20", "B", 17, "repaired"),
    number("Final Answer: −5\nConfidence: 90", "0-100", "-5", 90, "repaired"),
    number("Final Answer: ½\nConfidence: 90", "0-100", "0.5", 90, "repaired"),
]

CONFIDENCES = [
    Awkward("Answer: B\nConfidence: 85%", "0-100", "B", 85, "repaired"),
    Awkward("Answer: B\nConfidence: 85 %", "0-100", "B", 85, "repaired"),
    Awkward("Answer: B\nConfidence: 85 percent", "20-100", "B", 85, "repaired"),
    Awkward("Answer: B\nConfidence: 85%", "0-20", "B", 85, "out_of_range"),
    Awkward("Answer: B\nConfidence: 15%", "0-20", "B", 15, "repaired"),
    Awkward("Answer: B\nConfidence: 75%", "7-79", "B", 75, "repaired"),
    Awkward("Answer: B\nConfidence: 100%", "0-97", "B", 100, "repaired"),  # 3 above 97, the margin is 4.85
    Awkward("Answer: B\nConfidence: 100", "0-97", "B", 100, "repaired"),
    Awkward("Answer: B\nConfidence: 17/20", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17 / 20", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17 out of 20", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 85/100", "20-100", "B", 85, "repaired"),
    Awkward("Answer: B\nConfidence: 85/100", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 4/5", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 8 out of 10", "0-100", "B", 80, "repaired"),
    Awkward("Answer: B\nConfidence: 85-90", "0-100", "B", 87.5, "repaired"),
    Awkward("Answer: B\nConfidence: 85–90%", "0-100", "B", 87.5, "repaired"),
    Awkward("Answer: B\nConfidence: 85% - 90%", "0-100", "B", 87.5, "repaired"),
    Awkward("Answer: B\nConfidence: 15 to 18", "0-20", "B", 16.5, "repaired"),
    Awkward("Answer: B\nConfidence: between 15 and 18", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: somewhere between 15 and 18", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: about 90", "0-100", "B", 90, "repaired"),
    Awkward("Answer: B\nConfidence: ~90", "0-100", "B", 90, "repaired"),
    Awkward("Answer: B\nConfidence: ≈90", "0-100", "B", 90, "repaired"),
    Awkward("Answer: B\nConfidence: approximately 90%", "0-100", "B", 90, "repaired"),
    Awkward("Answer: B\nConfidence: >90", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: at least 15", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 90+", "0-100", "B", 90, "repaired"),
    Awkward("Answer: B\nConfidence: 90 ± 5", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 95.5", "0-100", "B", 95.5, "repaired"),
    Awkward("Answer: B\nConfidence: 95,5", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 17.0", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 017", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: +17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17.", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17!", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 1e1", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: ninety", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: zero", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: seventeen (17)", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 17 (seventeen)", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: ninety", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: fifty-fifty", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: eighty to ninety", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: zero point nine", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: three quarters", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 17 (very confident)", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: High (17)", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: I'd say 17", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 17, because 2 of 4 are in Italy", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 17 on a scale from 0 to 20", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17 (0-20)", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17 [0, 20]", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 20 (absolute certainty)", "0-20", "B", 20, "repaired"),
    Awkward("Answer: B\nConfidence: absolute certainty", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 15, no, actually 17", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: score=17", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 17 points", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: High", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: very confident", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: N/A", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: ?", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence:", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConf", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 0-20", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 0.85", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 0.9", "20-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 1.0", "0-100", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: 1", "0-100", "B", 1, "ok"),
    Awkward("Answer: B\nConfidence: 85", "0-20", "B", 85, "out_of_range"),
    Awkward("Answer: B\nConfidence: 21", "0-20", "B", 21, "repaired"),
    Awkward("Answer: B\nConfidence: 22", "0-20", "B", 22, "out_of_range"),
    Awkward("Answer: B\nConfidence: -3", "0-100", "B", -3, "repaired"),
    Awkward("Answer: B\nConfidence: −30", "0-100", "B", -30, "out_of_range"),
    Awkward("Answer: B\nConfidence: 10", "14-86", "B", 10, "out_of_range"),
    Awkward("Answer: B\nConfidence: 12", "14-86", "B", 12, "repaired"),
    Awkward("Answer: B\nConfidence: 1000000000000000000000000", "0-20", "B", 1e24, "out_of_range"),
    Awkward("Answer: B\nConfidence: infinity", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: NaN", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: A: 3, B: 15, C: 1, D: 1", "0-20", "B", NAN, "missing_confidence"),
]

ANSWERS = [
    Awkward("Answer: London, England\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: london\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B (not C)\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B, because Paris is in France\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B - London\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B: London\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B London\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: Option B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: choice (b)\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: London (B)\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B is correct\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: It is London.\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: A or B\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer: A and B\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer: A, B\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer: A/B\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer: A & C\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer: Paris or London\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer: B) Rome\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer: E\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer: Madrid\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer: None of the above\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Answer:\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("Confidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward("17", "0-20", "", NAN, "unreadable"),
    Awkward("Answer: B", "0-20", "B", NAN, "missing_confidence"),
    Awkward("B", "0-20", "B", NAN, "missing_confidence"),
    Awkward("London", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: A dog\nConfidence: 9", "0-10", "B", 9, "repaired", "choice", ("cat", "dog", "cow")),
    Awkward("Answer: 5\nConfidence: 17", "0-20", "B", 17, "ok", "choice", NUMBERS),
    Awkward("Answer: B) 5\nConfidence: 17", "0-20", "B", 17, "ok", "choice", NUMBERS),
    Awkward("Answer: Nothing happens to you.\nConfidence: 40", "0-50", "A", 40, "ok", "choice", SENTENCES),
    Awkward("Answer: You get sick\nConfidence: 40", "0-50", "B", 40, "ok", "choice", SENTENCES),
    Awkward("Answer: You will get sick\nConfidence: 40", "0-50", "B", 40, "repaired", "choice", SENTENCES ),
    Awkward("Answer: Nothing happens\nConfidence: 40", "0-50", "", 40, "missing_answer", "choice", SENTENCES),
    Awkward("Answer: Both iron and copper\nConfidence: 9", "0-10", "C", 9, "repaired", "choice", COMBINED),
    Awkward("Answer: Iron\nConfidence: 9", "0-10", "A", 9, "ok", "choice", COMBINED),
    Awkward("Answer: None of the above\nConfidence: 9", "0-10", "D", 9, "ok", "choice", COMBINED),
    Awkward("Answer: It is both iron and copper.\nConfidence: 9", "0-10", "C", 9, "repaired", "choice", COMBINED ),
    Awkward("Answer: not legal\nConfidence: 9", "0-10", "B", 9, "ok", "choice", LAW),
    Awkward("Answer: It is not legal.\nConfidence: 9", "0-10", "B", 9, "repaired", "choice", LAW),
    Awkward("Answer: illegal\nConfidence: 9", "0-10", "", 9, "missing_answer", "choice", LAW),
    Awkward("Answer: It is legal only in France\nConfidence: 9", "0-10", "C", 9, "repaired", "choice", LAW),
    boolean("Answer: true\nConfidence: 9", "0-10", "yes", 9, "repaired"),
    boolean("Answer: Yes, it is.\nConfidence: 9", "0-10", "yes", 9, "repaired"),
    boolean("**No.**\nConfidence: 9/10", "0-10", "no", 9, "repaired"),
    boolean("Answer: Yes and no\nConfidence: 5", "0-10", "", 5, "missing_answer"),
    boolean("Answer: No, modified release is not the same.\nConfidence: 9", "0-10", "no", 9, "repaired"),
    boolean("Answer: The statement is true\nConfidence: 9", "0-10", "yes", 9, "repaired"),
    boolean("Answer: That is not true\nConfidence: 9", "0-10", "no", 9, "repaired"),
    boolean("Answer: Unknown\nConfidence: 0", "0-10", "", 0, "refused"),
    text("**Answer:** **Marie Curie**\n**Confidence:** 9", "0-10", "Marie Curie", 9, "repaired"),
    text('Answer: "Marie Curie".\nConfidence: 9', "0-10", "Marie Curie", 9, "repaired"),
    text("The answer is Marie Curie.\nConfidence: 9", "0-10", "Marie Curie", 9, "repaired"),
    text("Answer: Confidence: 9", "0-10", "", 9, "missing_answer"),
]

NUMERIC = [
    number("Solution: 9 * 2 = 18\n**Final Answer:** 18\n**Confidence:** 95", "0-100", "18", 95, "repaired"),
    number("Solution: 9 * 2 = 18\nFinal Answer: $18.00\nConfidence: 95%", "0-100", "18", 95, "repaired"),
    number("Solution: add\nFinal Answer: 18 dollars\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Final Answer: \\$1,234.50\nConfidence: 95", "0-100", "1234.5", 95, "repaired"),
    number("Final Answer: 9 * 2 = 18\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Final Answer: Janet makes $18 every day\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Final Answer: The 3 children get 18 in total.\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Final Answer: 18 dollars for 3 children\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Final Answer: 18 (9 eggs at $2)\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Final Answer: \\boxed{18}\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("... so the total is $\\boxed{18}$.\n\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("9 eggs at 2 dollars.\n#### 18\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Solution: 9 * 2\nFinal Answer: 1/2\nConfidence: 95", "0-100", "0.5", 95, "repaired"),
    number("Solution: 9 * 2\nFinal Answer: 3 1/2 hours\nConfidence: 95", "0-100", "3.5", 95, "repaired"),
    number("Solution: 9 * 2\nFinal Answer: $\\frac{3}{4}$\nConfidence: 95", "0-100", "0.75", 95, "repaired"),
    number("Solution: 9 * 2\nFinal Answer: 25%\nConfidence: 95", "0-100", "25", 95, "ok"),
    number("Solution: x\nFinal Answer: 1.5 million\nConfidence: 95", "0-100", "1500000", 95, "repaired"),
    number("Solution: x\nFinal Answer: 1.2 × 10^5\nConfidence: 95", "0-100", "120000", 95, "repaired"),
    number("Solution: x\nFinal Answer: 1.2e5\nConfidence: 95", "0-100", "120000", 95, "repaired"),
    number("Solution: x\nFinal Answer: 10⁵\nConfidence: 95", "0-100", "100000", 95, "repaired"),
    number("Solution: x\nFinal Answer: eighteen\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Solution: x\nFinal Answer: -$5\nConfidence: 95", "0-100", "-5", 95, "ok"),
    number("Solution: x\nFinal Answer: 18.\nConfidence: 95", "0-100", "18", 95, "ok"),
    number("Solution: x\nFinal Answer: 18 apples\nConfidence: 95\nHope this helps!", "0-100", "18", 95, "repaired"),
    number("Solution: x\nFinal Answer: x = 18\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Solution: x\nFinal Answer: unknown\nConfidence: 5", "0-100", "", 5, "refused"),
    number("Solution: 16 - 7 = 9, 9 * 2 = 18\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("She makes 9 * 2 = 18 dollars.\nConfidence: 95", "0-100", "18", 95, "repaired"),
    number("Solution: 16 - 7 = 9 and then", "0-100", "", NAN, "unreadable"),
    number("Answer: 18\nConfidence: 17/20", "0-20", "18", 17, "repaired"),
    number("Final Answer: 1 234\nConfidence: 95", "0-100", "1234", 95, "repaired"),
    number("Final Answer: 1.234.567\nConfidence: 95", "0-100", "1234567", 95, "repaired"),
    number("Final Answer: €2,50\nConfidence: 95", "0-100", "2.5", 95, "repaired"),
    number("Final Answer: 0.333...\nConfidence: 95", "0-100", "0.333", 95, "repaired"),
    number("Final Answer: 1{,}234\nConfidence: 95", "0-100", "1234", 95, "repaired"),
    number('{"Solution": "9 * 2 = 18", "Final Answer": 18, "Confidence": 95}', "0-100", "18", 95, "repaired"),
]

SEVERAL = [
    Awkward("Answer: A\nConfidence: 5\n\nWait, that is wrong.\n\nAnswer: B\nConfidence: 17",
        "0-20", "B", 17, "repaired"),
    Awkward("Answer: A\nAnswer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 12\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17\nAnswer: B\nConfidence: 17", "0-20", "B", 17, "repaired"),
    Awkward("Answer: <your answer>\nConfidence: <integer between 0 and 20>", "0-20", "", NAN, "unreadable"),
    Awkward("Answer: <your answer>\nConfidence: <integer between 0 and 20>\n\nAnswer: B\nConfidence: 17",
        "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: <integer between 0 and 20>", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: B\nConfidence: integer between 0 and 20", "0-20", "B", NAN, "missing_confidence"),
    Awkward("Answer: [your answer]\nConfidence: 17", "0-20", "", 17, "missing_answer"),
    Awkward(
        "After providing your answer, rate your confidence as an integer between 0 and 20, where 0 means no confidence "
        "at all and 20 means absolute certainty.\nAnswer: B\nConfidence: 17",
        "0-20",
        "B",
        17,
        "repaired",
    ),
    Awkward(
        "After providing your answer, rate your confidence as an integer between 0 and 20, where 0 means no confidence "
        "at all and 20 means absolute certainty.",
        "0-20",
        "",
        NAN,
        "unreadable",
    ),
    Awkward("Answer: B\nConfidence: 17\n\nAnswer the following question.\nWhat is 2 + 2?\nAnswer: C\nConfidence: 3",
        "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17\n\nQuestion: What else?\nAnswer: C\nConfidence: 3", "0-20", "B", 17, "repaired"),
    Awkward("Answer: B\nConfidence: 17\nHuman: and now?\nAssistant: Answer: C\nConfidence: 3",
        "0-20", "B", 17, "repaired"),
    Awkward(
        "Answer: B\nConfidence: 17<|im_end|>\n<|im_start|>user\nNext\n<|im_start|>assistant\nAnswer: C\nConfidence: 3",
        "0-20",
        "B",
        17,
        "repaired",
    ),
    number(
        "Solution: a\nFinal Answer: 12\nConfidence: 80\n\nLet me check: 9 * 2 = 18.\nFinal Answer: 18\nConfidence: 95",
        "0-100",
        "18",
        95,
        "repaired",
    ),
    number("Solution: the answer: 12 is too small, so 18.\nFinal Answer: 18\nConfidence: 95", "0-100", "18", 95, "ok"),
    number("Final Answer: 18\nConfidence: 95\n\nSolve the following math problem step by step.\n2+2",
        "0-100", "18", 95, "repaired"),
]

REFUSALS = [
    Awkward("", "0-20", "", NAN, "unreadable"),
    Awkward("   \n\t\n", "0-20", "", NAN, "unreadable"),
    Awkward("...", "0-20", "", NAN, "unreadable"),
    Awkward("asdf qwer zxcv", "0-20", "", NAN, "unreadable"),
    Awkward("\x00\x01\x02", "0-20", "", NAN, "unreadable"),
    Awkward("I'm sorry, but I can't help with that.", "0-20", "", NAN, "refused"),
    Awkward("I’m sorry, but I can’t assist with that request.", "0-20", "", NAN, "refused"),
    Awkward("I cannot answer this question.", "0-20", "", NAN, "refused"),
    Awkward("I cannot provide information on obtaining a gun license. Can I help you with something else?",
        "0-20", "", NAN, "refused"),
    Awkward("As an AI language model, I do not have access to real-time information.", "0-20", "", NAN, "refused" ),
    Awkward("I am unable to determine the answer.\nConfidence: 0", "0-20", "", 0, "refused"),
    Awkward("Answer: I don't know\nConfidence: 0", "0-20", "", 0, "refused"),
    text("Answer: I don't know\nConfidence: 0", "0-20", "", 0, "refused"),
    number("Final Answer: I cannot solve this problem\nConfidence: 0", "0-20", "", 0, "refused"),
    Awkward("I'm sorry, I can't be sure, but here goes.\nAnswer: B\nConfidence: 3", "0-20", "B", 3, "repaired" ),
    Awkward("I must decline to answer.", "0-20", "", NAN, "refused"),
    boolean("Answer: Cannot be determined\nConfidence: 10", "0-20", "", 10, "refused"),
    Awkward("The passage does not say. Not enough information to choose an option.", "0-20", "", NAN, "refused" ),
]
# fmt: on

FIRST_LABELLED = (
    STRICT + LABELS + CONTAINERS + THOUGHTS + UNICODE + CONFIDENCES + ANSWERS + NUMERIC + SEVERAL + REFUSALS
)
