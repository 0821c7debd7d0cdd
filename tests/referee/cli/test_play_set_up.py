"""The set-up at the beginning of ``referee play``, and the players' names."""

import pytest


def test_a_random_set_up_follows_the_seed(play):
    first, again, other = (
        play("deblockle", "--no-record", "--set-up", "rolled", "--seed", seed, typed="quit\n").output
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.partition("\n")[2] != other.partition("\n")[2]
    assert "All" not in first
    assert "away from gold" in first


def test_a_set_up_can_be_given_by_its_places(play):
    stands = "c1=stop e1 x, c3=gold star e3 slider c5=teal x e5 hoops c7 cross e7 stop"
    said = play("deblockle", "--no-record", "--set-up", stands, typed="c1-c2\nquit\n").output
    assert " 1  ·   ·   G●  ·   Gx  ·   ·" in said
    assert " 7  ·   ·   T+  ·   T●  ·   ·" in said
    assert "gold: " not in said


def test_a_game_without_a_random_set_up_starts_as_usual(play):
    begun = [
        play("diaballik", "--no-record", *how, typed="quit\n").output.partition("\n")[2]
        for how in ([], ["--set-up", "rolled"])
    ]
    assert begun[0] == begun[1]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--set-up", "c1=stop"), 4, "There is 1 gold block, and gold starts with 4"),
        (("--set-up", "z9=stop"), 4, "there is no place 'z9'"),
        (("--set-up", "usual", "--position", "gold c1:G.star? e7:T.x? removed=3,3"), 2, "carry their own options"),
    ],
)
def test_an_impossible_set_up_is_refused(play, arguments, code, words):
    assert words in play("deblockle", *arguments, code=code).stderr


def test_players_are_called_by_their_names(play):
    names = ("--name", "gold=Ann", "--name", "teal=Ben")
    said = play("deblockle", "--no-record", *names, typed="resign\ny\n").output
    assert "Ann (gold)> resign" in said
    assert "Ann resigns. Ben (teal) wins. Are you sure?" in said
    assert "\nBen (teal) wins: Ann resigned." in said
    rolled = play("blockade", "--no-record", "--name", "warm=Ann", "--seed", "1", typed="roll\nquit\n").output
    assert "Ann (warm) rolls " in rolled
