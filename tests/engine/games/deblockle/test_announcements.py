"""Announcements in Deblockle: resignation, an agreed draw, a claimed repetition."""

from collections import Counter
from typing import Any

import pytest

from engine.errors import IllegalTurnError
from engine.values import Announcement, Outcome
from tests.engine.games.deblockle.strategies import GAME, SIDE_FACES
from tests.present import present

DUEL = "gold a1:G.star/north=slider g7:T.star/north=slider removed=0,0"
CLAIM = {player: Announcement("repetition", player) for player in GAME.players}


def to_and_fro(text, times):
    """Play turns back and forth until a position has come up ``times`` times with the same player to move."""
    state = GAME.notation.parse_state(text)
    seen: Counter[tuple[Any, str]] = Counter()
    for _ in range(200):
        key = (state.blocks, state.to_move)
        seen[key] += 1
        if seen[key] == times:
            return state
        turns = GAME.rules.legal_turns(state)
        back = [turn for turn in turns if turn.end == turn.start]
        state = GAME.rules.apply(state, (back or turns)[0])
    raise AssertionError("no position came up so often")


@pytest.mark.parametrize(("player", "winner"), [("gold", "teal"), ("teal", "gold")])
def test_either_player_may_resign_at_any_time(player, winner):
    state = GAME.rules.new()
    resigned = GAME.rules.announce(state, Announcement("resign", player))
    assert GAME.rules.outcome(resigned) == Outcome(winner, f"{player} resigned")
    assert (resigned.to_move, GAME.rules.legal_turns(resigned), GAME.rules.players_to_move(resigned)) == (None, [], ())
    assert GAME.rules.announcements(resigned) == ()
    assert GAME.notation.format_state(resigned).startswith("over ")
    assert GAME.notation.format_state(resigned).endswith(f"announced={player}:resign")
    assert GAME.notation.parse_state(GAME.notation.format_state(resigned)) == resigned


def test_both_may_agree_on_a_draw():
    drawn = GAME.rules.announce(GAME.rules.new(), Announcement("draw"))
    assert GAME.rules.outcome(drawn) == Outcome(None, "both agreed on a draw")
    assert GAME.notation.parse_state(GAME.notation.format_state(drawn).upper()) == drawn


def test_the_possible_announcements_are_listed():
    either = (Announcement("draw"), Announcement("resign", "gold"), Announcement("resign", "teal"))
    assert GAME.rules.announcements(GAME.rules.new()) == either
    third = to_and_fro(f"{DUEL} repetition_draw=true", 3)
    assert GAME.rules.announcements(third) == (CLAIM[third.to_move], *either)


def test_a_third_repetition_is_claimed_not_automatic():
    third = to_and_fro(f"{DUEL} repetition_draw=true", 3)
    assert third.to_move is not None
    assert GAME.rules.outcome(third) is None
    drawn = GAME.rules.announce(third, CLAIM[third.to_move])
    reason = f"{third.to_move} claimed a draw: the position came up three times"
    assert GAME.rules.outcome(drawn) == Outcome(None, reason)
    assert GAME.notation.parse_state(GAME.notation.format_state(drawn)) == drawn
    fourth = to_and_fro(f"{DUEL} repetition_draw=true", 4)
    assert present(GAME.rules.outcome(GAME.rules.announce(fourth, CLAIM[fourth.to_move]))).winner is None


@pytest.mark.parametrize(
    ("options", "times", "claimer", "why"),
    [
        ("", 3, "to move", "No draw by repetition was agreed"),
        ("repetition_draw=true", 2, "to move", "came up 2 times.*needs 3"),
        ("repetition_draw=true", 3, "other", "came up 0 times"),
    ],
)
def test_an_unjustified_claim_breaks_the_rule(options, times, claimer, why):
    state = to_and_fro(f"{DUEL} {options}", times)
    other = next(player for player in GAME.players if player != state.to_move)
    with pytest.raises(IllegalTurnError, match=why) as raised:
        GAME.rules.announce(state, CLAIM[state.to_move if claimer == "to move" else other])
    (breach,) = raised.value.breaches
    assert breach.rule == "repetition-claim"
    assert breach.sentence[0].isupper()
    assert breach.sentence.endswith(".")


def test_only_the_player_to_move_may_claim():
    third = to_and_fro(f"{DUEL} repetition_draw=true", 3)
    other = next(player for player in GAME.players if player != third.to_move)
    held = GAME.notation.format_state(third).replace(third.to_move, other, 1)
    with pytest.raises(IllegalTurnError, match="came up 0 times"):
        GAME.rules.announce(GAME.notation.parse_state(held), CLAIM[other])
    with pytest.raises(IllegalTurnError, match=f"{other.capitalize()} is to move"):
        GAME.rules.announce(GAME.notation.parse_state(held), CLAIM[third.to_move])


def test_unknown_announcements_are_refused():
    for announcement, possible in (
        (Announcement("resign"), "gold:resign, teal:resign"),
        (Announcement("draw", "gold"), "all:draw"),
        (Announcement("block", "gold"), "draw, resign"),
    ):
        with pytest.raises(IllegalTurnError, match=f"can't be announced now; what can be: {possible}$") as raised:
            GAME.rules.announce(GAME.rules.new(), announcement)
        assert raised.value.breaches == ()


def test_nothing_is_announced_after_the_end():
    over = GAME.rules.announce(GAME.rules.new(), Announcement("draw"))
    with pytest.raises(IllegalTurnError, match="game is over") as raised:
        GAME.rules.announce(over, Announcement("resign", "gold"))
    assert [breach.rule for breach in raised.value.breaches] == ["game-over"]


def test_a_correction_undoes_an_announcement():
    over = GAME.rules.announce(GAME.rules.new(), Announcement("resign", "teal"))
    assert GAME.table.amend(over, {}, "gold") == GAME.rules.new()


def test_side_faces_seen_after_the_end_are_kept():
    over = GAME.rules.announce(GAME.table.set_up(GAME.table.appearance(GAME.rules.new())), Announcement("draw"))
    narrowed = SIDE_FACES.narrow(over, {"c1": {"north": "slider"}})
    assert len(SIDE_FACES.facings(narrowed)["c1"]) == 1
    assert GAME.rules.outcome(narrowed) == GAME.rules.outcome(over)


def test_a_position_counts_from_when_its_side_faces_were_seen():
    state = GAME.notation.parse_state("gold d1:G.cross? d7:T.cross? removed=0,0 repetition_draw=true")
    for place, north in (("d1", "stop"), ("d7", "star")):
        state = SIDE_FACES.narrow(state, {place: {"north": north}})
    for text in ("d1-e1=hoops-d1", "d7-c7=hoops-b7", "d1-c1=cross-d1", "b7-c7=cross-d7") * 2:
        state = GAME.rules.apply(state, GAME.notation.parse_turn(state, text))
    assert CLAIM["gold"] in GAME.rules.announcements(state)
