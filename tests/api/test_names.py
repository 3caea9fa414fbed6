"""The names that `import egglift as el` gives."""

from __future__ import annotations

from types import ModuleType

import pytest

import egglift as el


def test_all_lists_every_public_name_and_no_module() -> None:
    own = {name: value for name, value in vars(el).items() if not name.startswith("_")}
    assert set(el.__all__) == {name for name, value in own.items() if not isinstance(value, ModuleType)}
    assert len(el.__all__) == len(set(el.__all__))


@pytest.mark.parametrize("name", sorted(el.__all__))
def test_every_public_name_that_can_be_called_is_documented(name: str) -> None:
    value = getattr(el, name)
    assert not callable(value) or (value.__doc__ or "").strip()


def test_the_names_of_numpy_that_are_promised_are_there() -> None:
    promised = (
        "abs exp log sqrt rsqrt sin cos tan tanh erf floor pow minimum maximum fma where cast add mul logical_and "
        "logical_or bitwise_and bitwise_or bitwise_xor"
    )
    assert set(promised.split()) <= set(el.__all__)
