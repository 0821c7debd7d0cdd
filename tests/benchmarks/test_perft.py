"""The command that counts turns gives what ``engine/perft.py`` counts."""

import pytest

from benchmarks.perft import main


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    main(list(arguments))
    return capsys.readouterr().out.splitlines()


def test_counts_are_printed_whole_or_by_first_turn(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "deblockle", "--depth", "2") == ["2760"]
    *split, total = printed(capsys, "deblockle", "--depth", "2", "--split")
    assert (len(split), total) == (58, "deblockle to depth 2: 2760")
    assert sum(int(line.split()[-1]) for line in split) == 2760


def test_a_roll_and_options_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "number-drop", "--depth", "1", "--roll", "1,3,4,5,T") == ["528"]
    few = ("--option", "blocks_gold=1", "--option", "blocks_teal=1")
    (count,) = printed(capsys, "deblockle", "--depth", "2", *few)
    assert int(count) < 2760
