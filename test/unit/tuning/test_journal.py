"""The journal: what was written is there after the end of the process, however that came."""

from __future__ import annotations

from ingot.tuning.journal import Journal


def test_records_are_there_again(tmp_path):
    path = tmp_path / "out.json.journal"
    first = Journal(path, "a search")
    first.put("kernel", "schedule", ratio=0.5, spent=3.0)
    again = Journal(path, "a search")  # the first one was never closed
    assert again.is_resumed
    assert again.get("kernel", "schedule")["ratio"] == 0.5
    assert again.get("kernel") is None
    assert again.spent == 3.0


def test_a_line_that_was_cut_off_was_not_written(tmp_path):
    path = tmp_path / "out.json.journal"
    journal = Journal(path, "a search")
    journal.put("a", ratio=1)
    journal.put("b", ratio=2)
    path.write_text(path.read_text()[:-5])
    again = Journal(path, "a search")
    assert (again.get("a")["ratio"], again.get("b")) == (1, None)
    again.put("b", ratio=3)
    assert Journal(path, "a search").get("b")["ratio"] == 3


def test_another_search_begins_anew(tmp_path):
    path = tmp_path / "out.json.journal"
    Journal(path, "a search").put("a", ratio=1)
    other = Journal(path, "another one")
    assert not other.is_resumed
    assert other.get("a") is None


def test_what_is_no_journal_is_begun_anew(tmp_path):
    path = tmp_path / "out.json.journal"
    path.write_bytes(b"\xff\xfe not a journal")
    assert not Journal(path, "a search").is_resumed


def test_an_empty_one_does_not_stay(tmp_path):
    path = tmp_path / "out.json.journal"
    Journal(path, "a search").close()
    assert not path.exists()
