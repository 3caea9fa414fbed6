"""`egglift records`, on what an optimisation has left in the cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import egglift as el
from egglift.cli import main
from egglift.costmodel.records.records import Records


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the record of one program."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EGGLIFT_CACHE", str(folder))
        el.optimize(el.reduce(el.add, 0.0, el.array("x", el.f32, 10_000)), device="pocl")
    return folder / "records.jsonl"


@pytest.fixture
def cache(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "records.jsonl"
    path.write_bytes(kept.read_bytes())
    (tmp_path / "measurements.jsonl").write_bytes(kept.with_name("measurements.jsonl").read_bytes())
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    return path


def test_replay_prices_the_recorded_candidates_anew(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records", "--json", "replay"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["count"] >= 4 and -1 <= row["rank"] <= 1 and row["first"] >= 1 and 1 <= row["until"] <= row["count"]


def test_replay_with_an_unknown_preset_names_the_known_ones(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["records", "replay", "--profile", "abacus"]) == 2
    assert "pocl_cpu" in capsys.readouterr().err


def test_export_writes_every_candidate(cache: Path, tmp_path: Path) -> None:
    assert main(["records", "export", "--out", str(tmp_path / "t4.json")]) == 0
    (record,) = Records(cache)
    assert len(json.loads((tmp_path / "t4.json").read_text())["results"]) == len(record.candidates)


def test_prune_drops_what_is_asked_for_and_nothing_else(cache: Path) -> None:
    single = cache.with_name("measurements.jsonl")
    many = len(single.read_text().splitlines())
    assert many > 1
    for kept in (["--stale"], ["--before", "2020-01-01"]):
        assert main(["records", "prune", *kept]) == 0
        assert (len(list(Records(cache))), len(single.read_text().splitlines())) == (1, many)
    assert main(["records", "prune", "--device", "pthread"]) == 0
    assert list(Records(cache)) == []
    assert single.read_text() == ""


def test_merge_puts_files_into_one(cache: Path, tmp_path: Path) -> None:
    assert main(["records", "merge", str(cache), str(cache), "--out", str(tmp_path / "all.jsonl")]) == 0
    assert len(list(Records(tmp_path / "all.jsonl"))) == 1


def test_without_a_cache_a_file_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", "off")
    assert main(["records", "replay"]) == 2
    assert "name a file" in capsys.readouterr().err
