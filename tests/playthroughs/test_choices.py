"""Playthroughs of games with dice, and of games with very many turns."""

from dataclasses import replace

import pytest

from tests.engine import toy_harvest
from tests.engine.toy_harvest import Choice, HarvestRules
from tests.playthroughs.playthrough import playthrough, replayed


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_harvest.register(monkeypatch)


def test_a_choice_is_a_roll_where_one_is_awaited():
    text = playthrough("harvest", [4, 3, 1, 6, 0, 0, 0], {"rounds": 2})
    assert replayed(text) == text
    assert [line for line in text.splitlines() if line.startswith(("rolls", "plays"))] == [
        "rolls: 5",
        "plays: p2 leave (p2 leaves the die.)",
        "plays: leave (p1 leaves the die.)",
        "rolls: 1",
        "plays: p1 keep (p1 keeps the die.)",
        "plays: keep (p2 keeps the die.)",
    ]
    for line in ("possible rolls 6:", "  5 1/6", "legal 4:", "  p2 leave certain", "also to move: p2"):
        assert f"\n{line}\n" in text
    assert "\nscores: p1 3, p2 3\n" in text
    assert text.count("\nply ") == 7
    assert "outcome: Outcome(winner=None, reason='a tie', shared_by=('p1', 'p2'))" in text


class ManyChoices(HarvestRules):
    """The toy game with ten thousand legal turns in a lazy sequence."""

    walked = 0

    class Turns:
        def __len__(self):
            return 10_000

        def __getitem__(self, index):
            ManyChoices.walked += 1
            return Choice("p1", index % 2 == 0)

    def legal_turns(self, state):
        return self.Turns() if super().legal_turns(state) else ()

    def certainty(self, state, turn):
        return HarvestRules().certainty(state, turn)


def test_of_very_many_turns_some_are_listed_and_the_rest_is_not_walked(monkeypatch):
    monkeypatch.setattr(toy_harvest, "GAME", replace(toy_harvest.GAME, rules=ManyChoices()))
    monkeypatch.setattr(ManyChoices, "walked", 0)
    text = playthrough("harvest", [4, 9999], {"rounds": 1})
    assert "legal 10000, of which 40:" in text
    assert "plays: p1 leave" in text
    assert ManyChoices.walked < 200
