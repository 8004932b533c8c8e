"""The first replies of a model to all tasks of a run: the run stops if none has a text."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from lm_eval.api.model import LM

from confidence_tasks.harness.first_replies import FirstReplies, UnfinishedError, more_room
from confidence_tasks.harness.lm_eval.generated import Generated

_found: WeakKeyDictionary[LM, FirstReplies] = WeakKeyDictionary()


def note_reply(model: LM, name: str, reply: Generated) -> UnfinishedError | None:
    """Note whether a reply of a model has a text after its thoughts; return an error if it is the last of too many.

    ``name`` is that of the model in the error. The next run of the model, which may have another limit, counts anew.
    """
    first = _found.setdefault(model, FirstReplies(name, more_room("--gen_kwargs max_gen_toks=8192")))
    first.note(str(reply), reply.stop)
    if not first.fault:
        return None
    del _found[model]
    return UnfinishedError(first.fault)
