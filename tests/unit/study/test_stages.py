"""Caching of model calls."""

import pytest
from inspect_ai.model import CachePolicy, get_model

from confidence_tasks.harness.inspect.model_calls import call_cache
from confidence_tasks.harness.inspect.roles import RoleError, missing_roles


def test_cached_replies_do_not_expire_and_depend_on_model_arguments() -> None:
    first, second = (get_model("mockllm/model", temperature_of_mind=value, memoize=False) for value in (1, 2))
    policies = [call_cache(model, per_epoch=True) for model in (first, second, first)]
    assert all(isinstance(policy, CachePolicy) and policy.expiry is None for policy in policies)
    assert policies[0] == policies[2] != policies[1]


def test_the_cache_is_per_epoch_only_for_the_model_under_test() -> None:
    model = get_model("mockllm/model")
    assert call_cache(model, per_epoch=True).per_epoch
    assert not call_cache(model, per_epoch=False).per_epoch


def test_a_simulated_subject_is_not_cached_since_its_replies_change_with_the_package() -> None:
    assert call_cache(get_model("simulated/ideal"), per_epoch=True) is False


def test_an_unbound_role_names_its_flag() -> None:
    assert missing_roles(["judge"]) == ["judge"]
    with pytest.raises(
        RoleError, match="--model-role parser=PROVIDER/MODEL --model-role judge=PROVIDER/MODEL"
    ):
        raise RoleError(["parser", "judge"])
