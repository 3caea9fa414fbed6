"""Records on disk."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from egglift.costmodel.records.cache_folder import cache_folder
from egglift.costmodel.records.records import Record, Records, record_key


def record(key: str, measured: float = 1.0) -> Record:
    return Record(
        key,
        "(input x)",
        "a device",
        "1.0",
        "(map ...)",
        {"p0": 4},
        2.0,
        measured,
        ("map-fusion",),
        ({"term": "t"},),
    )


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "records.jsonl"
    Records(path).put(record("a"))
    assert Records(path).get("a") == record("a")
    assert Records(path).get("b") is None


def test_the_last_record_of_a_key_counts(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    records = Records(path)
    records.put(record("a", 1.0))
    records.put(record("b", 5.0))
    records.put(record("a", 2.0))
    assert [r.measured for r in Records(path)] == [2.0, 5.0]


def test_what_another_process_appends_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    mine, other = Records(path), Records(path)
    assert mine.get("a") is None
    other.put(record("a"))
    assert mine.get("a") == record("a")


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    mine = Records(path)
    mine.put(record("a"))
    path.unlink()
    Records(path).put(record("b"))
    assert mine.get("b") == record("b")


def test_a_file_cut_overwritten_or_deleted_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    mine = Records(path)
    mine.put(record("a"))
    assert mine.get("a") == record("a")
    path.write_text(path.read_text().replace('"key":"a"', '"key":"c"'))  # as long as before, and in its place
    assert (mine.get("a"), mine.get("c")) == (None, record("c"))
    path.write_text("")
    assert mine.get("c") is None
    mine.put(record("d"))
    path.unlink()
    assert mine.get("d") is None


def test_a_torn_line_is_skipped_and_spoils_nothing_after_it(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    Records(path).put(record("a"))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    with pytest.warns(RuntimeWarning, match="ends in the middle of a record; it is skipped"):
        assert Records(path).get("a") == record("a")
    with pytest.warns(RuntimeWarning, match="it is skipped"):
        Records(path).put(record("b"))
    with pytest.warns(RuntimeWarning, match="holds a line that is no record"):
        again = Records(path)
        assert again.get("b") == record("b")
    assert again.get("a") == record("a")


@pytest.mark.parametrize("line", ["[]", "null", "{}", '{"schema": 1}', "\x00\xff", '{"schema": 1, "key": 3}'])
def test_nonsense_in_the_file_does_not_stop_the_work(tmp_path: Path, line: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(line + "\n", encoding="latin-1")
    records = Records(path)
    with pytest.warns(RuntimeWarning, match="no record"):
        assert records.get("a") is None
    records.put(record("a"))
    assert Records(path).path == path


def test_records_of_another_version_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"schema": 0, "key": "a"}\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Records(path).get("a") is None


def test_where_nothing_can_be_written_it_works_and_warns_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    records = Records(tmp_path / "file" / "records.jsonl")  # its folder is a file: fails for every user
    with pytest.warns(RuntimeWarning, match=r"cannot (read|write)") as caught:
        records.put(record("a"))
        records.put(record("b"))
    assert len(caught) == 1
    assert records.get("a") == record("a")


def test_a_full_disk_does_not_stop_the_work() -> None:
    records = Records(Path("/dev/full"))
    with pytest.warns(RuntimeWarning, match=r"not kept"):
        records.put(record("a"))
    assert records.get("a") == record("a")


def test_the_environment_moves_the_cache_or_turns_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    Records().put(record("a"))
    assert (tmp_path / "records.jsonl").is_file()
    monkeypatch.setenv("EGGLIFT_CACHE", "off")
    assert cache_folder() is None
    quiet = Records()
    quiet.put(record("b"))
    assert quiet.get("b") == record("b")
    monkeypatch.delenv("EGGLIFT_CACHE")
    assert "egglift" in str(cache_folder())


def test_every_part_of_the_key_counts() -> None:
    base = {"program": "p", "rules": "r", "device": "d", "driver": "v", "options": {"measure": "sample"}}
    keys = {record_key(**base)}  # type: ignore[arg-type]
    for name in base:
        changed = {**base, name: {"measure": "none"} if name == "options" else "other"}
        keys.add(record_key(**changed))  # type: ignore[arg-type]
    assert len(keys) == 6
    assert record_key(**base) in keys  # type: ignore[arg-type]


WRITER = """
import sys
from pathlib import Path
from egglift.costmodel.records.records import Record, Records
records = Records(Path(sys.argv[1]))
for i in range(100):
    records.put(Record(f"{sys.argv[2]}-{i}", "x" * 5000, "", "", ""))
"""


def test_processes_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(i)]) for i in range(3)]
    assert [w.wait() for w in writers] == [0, 0, 0]
    assert len(list(Records(path))) == 300


def test_the_cache_folder_is_any_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given, folder in (("~/x", tmp_path / "x"), (str(tmp_path), tmp_path), ("off", None), ("OFF", None)):
        monkeypatch.setenv("EGGLIFT_CACHE", given)
        assert cache_folder() == folder
