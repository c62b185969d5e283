# SPDX-License-Identifier: GPL-3.0-or-later
import random

from tools import fuzz_corpus


def test_what_is_packed_comes_out_once(tmp_path):
    (tmp_path / "in").mkdir()
    for name, content in {"a": b"one", "b": b"two", "c": b"one", "d": b""}.items():
        (tmp_path / "in" / name).write_bytes(content)
    assert fuzz_corpus.pack(tmp_path / "in", tmp_path / "a.zip") == 3
    assert fuzz_corpus.pack(tmp_path / "in", tmp_path / "b.zip") == 3
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    fuzz_corpus.unpack(tmp_path / "a.zip", tmp_path / "out")
    assert sorted(path.read_bytes() for path in (tmp_path / "out").iterdir()) == [b"", b"one", b"two"]


def test_the_longest_are_left_out(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(100):
        (tmp_path / "in" / str(number)).write_bytes(random.Random(number).randbytes(10 * number))
    count = fuzz_corpus.pack(tmp_path / "in", tmp_path / "a.zip", most=20_000)
    assert 20 < count < 90 and (tmp_path / "a.zip").stat().st_size <= 20_000
    fuzz_corpus.unpack(tmp_path / "a.zip", tmp_path / "out")
    assert max(path.stat().st_size for path in (tmp_path / "out").iterdir()) == 10 * (count - 1)


def test_without_a_corpus_there_are_no_inputs(tmp_path):
    fuzz_corpus.unpack(tmp_path / "none.zip", tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_the_repository_keeps_less_than_2_mb():
    assert sum(path.stat().st_size for path in fuzz_corpus.FOLDER.glob("*.zip")) < 2_000_000
