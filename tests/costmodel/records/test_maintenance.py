"""Files of records: merged, pruned, handed on, and models tried on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from egglift.costmodel.records.maintenance import judged, merged, replay, rewrite, spearman, t4
from egglift.costmodel.records.records import Record, Records
from egglift.ir.errors import RecordError

CANDIDATES = (
    {
        "structure": "G(c)",
        "parameters": {"v0": 4},
        "launch": {"group_size": 64},
        "estimate": 2e-3,
        "measured": 1e-3,
        "status": "ok",
    },
    {
        "structure": "W(c)",
        "parameters": {},
        "launch": {"group_size": 64},
        "estimate": 1e-3,
        "measured": 3e-3,
        "status": "ok",
    },
    {
        "structure": "F(c)",
        "parameters": {},
        "launch": {"group_size": 64},
        "estimate": 1e-3,
        "measured": None,
        "status": "build",
    },
)
RECORD = Record("a", "(input x)", "a device", "1.0", "(map ...)", candidates=CANDIDATES, when="2026-11-28T07:00:00")


def test_merged_files_hold_each_key_once_as_the_last_has_it(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    rewrite(one, [RECORD, replace(RECORD, key="b")])
    rewrite(two, [replace(RECORD, device="another")])
    assert {r.key: r.device for r in merged([one, two])} == {"a": "another", "b": "a device"}
    with pytest.raises(RecordError, match="no file of records"):
        merged([tmp_path / "none"])


def test_a_file_is_replaced_as_a_whole_and_readers_see_it(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    reader = Records(path)
    reader.put(RECORD)
    rewrite(path, [replace(RECORD, key="b")])
    assert reader.get("a") is None and reader.get("b") is not None
    assert [p.name for p in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_disk_that_takes_nothing_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot write"):
        rewrite(tmp_path / "file" / "r.jsonl", [RECORD])


def test_t4_says_what_was_measured_and_why_the_rest_is_invalid() -> None:
    result = t4([RECORD])
    assert [r["invalidity"] for r in result["results"]] == ["correct", "correct", "compile"]
    first = result["results"][0]
    assert first["times"]["runtimes"] == [1.0] and first["correctness"] == 1.0 and first["timestamp"] == RECORD.when
    assert first["configuration"]["v0"] == 4 and first["configuration"]["group_size"] == 64


def test_t4_has_what_the_format_requires() -> None:
    for r in t4([RECORD])["results"]:
        assert {"configuration", "times", "invalidity", "correctness"} <= r.keys()
        assert r["invalidity"] in ("timeout", "compile", "runtime", "correctness", "constraints", "correct")


def test_a_model_is_judged_by_what_was_measured() -> None:
    (wrong,) = replay([RECORD], lambda c: c["estimate"])
    assert (wrong.count, wrong.rank, wrong.first, wrong.until) == (2, pytest.approx(-1), pytest.approx(3), 2)
    (right,) = replay([RECORD], lambda c: c["measured"])
    assert (right.rank, right.first, right.until) == (pytest.approx(1), 1, 1)
    assert replay([RECORD], lambda c: None) == []


def test_one_is_near_enough_within_five_percent() -> None:
    assert judged([(1.0, 1.04), (2.0, 1.0)])[2] == 1
    assert judged([(1.0, 1.06), (2.0, 1.0)])[2] == 2


@pytest.mark.parametrize("seed", range(5))
def test_rank_correlation_is_scipys_ties_included(seed: int) -> None:
    from scipy import stats  # takes a second

    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, 30), rng.random(30)
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
