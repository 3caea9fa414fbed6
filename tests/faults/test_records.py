"""Record and profile files that are corrupt, of other versions, or written by somebody else: never trusted unseen."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import egglift as el
from egglift.codegen.device.device import Device, open_device
from egglift.costmodel.profiles.profile import load_profile, loads_profile, profile_path
from egglift.ir.errors import RecordError

pytestmark = pytest.mark.short

N = 64
X = np.arange(N, dtype=np.float32)
x = el.array("x", el.f32, N)
PROGRAM = x * 2
OTHER = el.dumps(x * 3)
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """A record of the program, and the key that it is sealed with."""
    folder = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EGGLIFT_CACHE", str(folder))
        el.optimize(PROGRAM, "pocl", measure="none")
    return (folder / "records.jsonl").read_text(), (folder / "seal").read_bytes()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good: tuple[str, bytes]) -> Path:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    (tmp_path / "seal").write_bytes(good[1])
    return tmp_path


def right() -> None:
    """The program is optimised and computes what it says, now and the next time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for _ in range(2):
            np.testing.assert_array_equal(el.optimize(PROGRAM, "pocl", measure="none")(X), 2 * X)


def each(**new: Any) -> Change:
    """Every candidate of the record changed."""
    return lambda raw: {**raw, "candidates": [{**c, **new} for c in raw["candidates"]]}


def whole(**new: Any) -> Change:
    return lambda raw: {**raw, **new}


def launch(**new: Any) -> Change:
    return each(launch={"group_size": 64, "max_groups": 1, "swizzle": 1, **new})


def test_an_own_record_is_trusted_at_once(cache: Path, good: tuple[str, bytes], searches: list[Any]) -> None:
    (cache / "records.jsonl").write_text(good[0])
    right()
    assert not searches


def test_a_record_from_elsewhere_is_checked_once_and_adopted(
    cache: Path, good: tuple[str, bytes], searches: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache / "records.jsonl").write_text(good[0])
    (cache / "seal").unlink()
    module: Any = sys.modules["egglift.optimize"]
    checked: list[Any] = []
    measured = module.measured
    monkeypatch.setattr(module, "measured", lambda *a, **named: (checked.append(a), measured(*a, **named))[1])
    right()
    assert (len(checked), len(searches)) == (1, 0)


@pytest.mark.parametrize("seal", ["", "0" * 64, "\u00e9\ud800"])
def test_a_record_with_a_seal_of_nonsense_is_one_from_elsewhere(
    cache: Path, good: tuple[str, bytes], searches: list[Any], seal: str
) -> None:
    (cache / "records.jsonl").write_text(json.dumps(whole(seal=seal)(json.loads(good[0]))) + "\n")
    right()
    assert not searches


def test_a_record_of_another_program_is_found_out_and_not_used(
    cache: Path, good: tuple[str, bytes], searches: list[Any]
) -> None:
    (cache / "records.jsonl").write_text(json.dumps(each(term=OTHER)(json.loads(good[0]))) + "\n")
    with pytest.warns(RuntimeWarning, match="a record in the cache is wrong: the program is optimised again"):
        kernel = el.optimize(PROGRAM, "pocl", measure="none")
    np.testing.assert_array_equal(kernel(X), 2 * X)
    assert len(searches) == 1


SPOILT: dict[str, Change] = {
    "another type": each(term="(map (fn i32 (add arg 1:i32)) (input x [i32]64))"),
    "another input": each(term="(map (fn (f32,f32) (get 0 arg)) (zip (input x [f32]64) (input y [f32]64)))"),
    "a length without number": each(term="(map (fn f32 (neg arg)) (input x [f32]n))"),
    "a term of nonsense": each(term="\0\1("),
    "a term that is a number": each(term=5),
    "a form of nonsense": each(form="("),
    "a group of 10^9": launch(group_size=10**9),
    "a group of -1": launch(group_size=-1),
    "a group that is a text": launch(group_size="64"),
    "no groups": launch(max_groups=0),
    "a launch of unknown words": launch(evil=1),
    "a launch that is a list": each(launch=[64, 1]),
    "sizes that are texts": each(parameters={"p0": "x"}),
    "a status of nonsense": each(status="evil"),
    "a bound that is a number": each(bound=5),
    "an estimate that is a text": each(estimate="fast"),
    "an estimate below nought": each(estimate=-1.0),
    "an estimate that is no number": each(estimate=float("nan")),
    "an estimate without end": lambda raw: json.dumps(each(estimate=7.5)(raw)).replace("7.5", "1e999"),
    "a time that is true": each(measured=True),
    "candidates that are numbers": whole(candidates=[1, 2]),
    "candidates that are a text": whole(candidates="abc"),
    "no candidates": whole(candidates=[]),
    "a key that is a list": whole(key=["a"]),
    "a device that is a number": whole(device=5),
    "an unknown field": whole(evil=1),
    "an older schema": whole(schema=0),
    "a newer schema": whole(schema=99),
    "a schema that is a text": whole(schema="1"),
    "half of it": lambda raw: json.dumps(raw)[:500],
    "nesting without end": lambda raw: "[" * 200_000,
    "a line of megabytes": lambda raw: "a" * 3_000_000,
    "NUL": lambda raw: "\0" * 1000,
    "a number of 10,000 digits": lambda raw: '{"schema":1,"key":' + "9" * 10_000 + "}",
}


def test_spoilt_records_are_searched_for_again(
    cache: Path, good: tuple[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One search serves all: the first spoilt record is followed by the one that is written anew."""
    kernel, searched = el.optimize(PROGRAM, "pocl", measure="none", cache=False), list[str]()
    now = ""

    def found(self: Any, *_: Any) -> None:
        searched.append(now)
        self.naive = list(kernel.candidates)

    monkeypatch.setattr("egglift.search.Searched.by_all_ways", found)
    for name, change in SPOILT.items():
        now, raw = name, change(json.loads(good[0]))
        (cache / "records.jsonl").write_text((raw if isinstance(raw, str) else json.dumps(raw)) + "\n")
        right()
    assert searched == list(SPOILT)


@pytest.mark.parametrize("what", ["driver", "rules", "options"])
def test_a_record_is_stale_once_driver_book_or_option_change(
    cache: Path, good: tuple[str, bytes], searches: list[Any], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    (cache / "records.jsonl").write_text(good[0])
    options = {"fast_math": True} if what == "options" else {}
    if what == "driver":
        monkeypatch.setattr(Device, "driver", property(lambda self: "another"))
    if what == "rules":
        monkeypatch.setattr("egglift.memory.rules", lambda: "another book")
    el.optimize(PROGRAM, "pocl", measure="none", **options)
    assert len(searches) == 1


def test_a_record_file_that_is_a_link_is_written_through_it(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    (cache / "records.jsonl").symlink_to(tmp_path / "elsewhere")
    right()
    assert (cache / "records.jsonl").is_symlink()
    assert (tmp_path / "elsewhere").read_text().count("\n") == 1


# ---------------------------------------------------------------------------------------- profiles


PROFILES: dict[str, dict[str, Any] | str] = {
    **{
        f"{name} of {value!r}": {name: value}
        for name in ("bandwidth", "compute_units", "items_per_unit", "simd_bytes")
        for value in ("x", 0, -1, [1], None)
    },
    "a latency that is no number": {"latency": float("nan")},
    "no caches": {"caches": []},
    "a cost that is a text": {"op_costs": {"exp": "x"}},
    "a name that is a number": {"name": 5},
    "a list": "[]",
    "nesting without end": "[" * 100_000,
    "half of it": '{"schema": 1, "name": ',
}


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_that_no_device_can_have_is_refused(name: str) -> None:
    base = json.loads(load_profile(open_device("pocl")).dumps())
    change = PROFILES[name]
    with pytest.raises(RecordError, match="not a device profile"):
        loads_profile(change if isinstance(change, str) else json.dumps(base | change))


def test_a_profile_of_bytes_is_passed_over(cache: Path) -> None:
    device = open_device("pocl")
    path = profile_path(device)
    assert path is not None
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\0")
    assert load_profile(device).name == device.name
