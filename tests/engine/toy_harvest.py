"""Harvest, a toy game for tests: all players keep or leave the same die simultaneously.

A player who keeps the die scores it, one who leaves it two. Most points after the last round win; a tie is shared.
"""

import sys
from dataclasses import dataclass, replace
from types import MappingProxyType

import pytest

from engine import registry
from engine.api import Game, Hint
from engine.errors import AmbiguousError, IllegalTurnError, UnreadableError
from engine.options import read_options
from engine.registry import games
from engine.support.breaches import advised
from engine.support.chance import ORDINARY_DIE, every_roll, format_roll
from engine.support.players import RESIGN, format_announcement
from engine.values import EMPTY, Announcement, Certainty, Option, Outcome, Roll, Rule

PLAYERS = ("p1", "p2", "p3")
LEFT = 2
ROLLS = every_roll([ORDINARY_DIE])


@dataclass(frozen=True)
class Choice:
    player: str
    kept: bool

    @property
    def places(self):
        return (self.player,)


@dataclass(frozen=True)
class Field:
    points: tuple[int, ...]
    rounds: int
    die: str | None = None
    chosen: tuple[str, ...] = ()
    resigned: tuple[str, ...] = ()

    @property
    def active(self):
        return tuple(player for player in PLAYERS[: len(self.points)] if player not in self.resigned)

    @property
    def to_move(self):
        waiting = [player for player in self.active if player not in self.chosen]
        return waiting[0] if waiting and self.rounds and len(self.active) > 1 else None


OPTIONS = (
    Option("players", 2, "How many play.", (2, 3)),
    Option("rounds", 2, "How many dice there are.", (1, 2, 3)),
)


def scores_of(state):
    return dict(zip(PLAYERS, state.points, strict=False))


class HarvestRules:
    catalogue = MappingProxyType({"one-choice": Rule("one-choice", "Choose once a round.")})

    def new(self, options=None):
        values = read_options(OPTIONS, options)
        return Field((0,) * int(values["players"]), int(values["rounds"]))

    def players_to_move(self, state):
        if state.to_move is None:
            return ()
        return tuple(player for player in state.active if player not in state.chosen)

    def legal_turns(self, state):
        if state.die is None:
            return ()
        return tuple(Choice(player, kept) for player in self.players_to_move(state) for kept in (True, False))

    def perft_turns(self, state):
        return tuple(turn for turn in self.legal_turns(state) if turn.player == state.to_move)

    def apply(self, state, turn):
        if turn not in self.legal_turns(state):
            breach = advised("one-choice", "That was a second choice.", "Wait for the next die.", (turn.player,))
            raise IllegalTurnError(f"{turn.player} can't choose now", (breach,))
        at = PLAYERS.index(turn.player)
        gained = int(state.die) if turn.kept else LEFT
        points = (*state.points[:at], state.points[at] + gained, *state.points[at + 1 :])
        chosen = tuple(player for player in PLAYERS if player in state.chosen or player == turn.player)
        return self._settled(replace(state, points=points, chosen=chosen))

    def _settled(self, state):
        if state.die is not None and not set(state.active) - set(state.chosen):
            return replace(state, die=None, chosen=(), rounds=state.rounds - 1)
        return state

    def combine(self, turns):
        if len(turns) != 1:
            raise AmbiguousError("every choice looks alike on the table", ())
        return turns[0]

    def announcements(self, state):
        return () if state.to_move is None else tuple(Announcement(RESIGN, player) for player in state.active)

    def announce(self, state, announcement):
        if announcement not in self.announcements(state):
            raise IllegalTurnError(f"{format_announcement(announcement)} can't be said now")
        resigned = tuple(p for p in PLAYERS if p in state.resigned or p == announcement.player)
        return self._settled(replace(state, resigned=resigned))

    def outcome(self, state):
        if state.to_move is not None:
            return None
        best = max(state.points[PLAYERS.index(player)] for player in state.active)
        winners = tuple(player for player in state.active if state.points[PLAYERS.index(player)] == best)
        return Outcome(winners[0], "most points") if len(winners) == 1 else Outcome(None, "a tie", winners)

    def certainty(self, state, turn):
        return Certainty.CERTAIN if turn in self.legal_turns(state) else Certainty.IMPOSSIBLE


class HarvestDice:
    def awaits_roll(self, state):
        return state.to_move is not None and state.die is None

    def possible_rolls(self, state):
        return ROLLS if self.awaits_roll(state) else ()

    def rolled(self, state, roll):
        if not self.awaits_roll(state) or roll not in [one.roll for one in ROLLS]:
            raise IllegalTurnError(f"{format_roll(roll)} can't be rolled now")
        return replace(state, die=roll.faces[0])

    def roll_of(self, state):
        return None if state.die is None else Roll((state.die,))

    def parse_roll(self, state, text):
        if text.strip() not in ORDINARY_DIE:
            raise UnreadableError(f"cannot read {text!r}; expected 1 to 6", 1)
        return Roll((text.strip(),))


class HarvestTable:
    def appearance(self, state):
        return dict.fromkeys(PLAYERS, EMPTY)

    def set_up(self, appearance, options=None, *, anywhere=False):
        return HarvestRules().new(options)

    def amend(self, state, looks, to_move=None):
        return state

    def explain(self, before, after):
        return ()

    def unfinished(self, state):
        return ()


class HarvestNotation:
    def format_state(self, state):
        words = [",".join(map(str, state.points)), str(state.rounds), state.die or "-"]
        return " ".join([*words, ",".join(state.chosen) or "-", ",".join(state.resigned) or "-"])

    def parse_state(self, text):
        words = text.split()
        if len(words) != 5:
            raise UnreadableError(f"cannot read {text!r}; expected five words", 1)
        points, rounds, die, chosen, resigned = words
        try:
            return Field(
                tuple(int(one) for one in points.split(",")),
                int(rounds),
                None if die == "-" else die,
                () if chosen == "-" else tuple(chosen.split(",")),
                () if resigned == "-" else tuple(resigned.split(",")),
            )
        except ValueError as error:
            raise UnreadableError(f"cannot read {text!r}: {error}", 1) from error

    def format_turn(self, turn):
        return "keep" if turn.kept else "leave"

    def parse_turn(self, state, text, player=None):
        word = text.strip().lower()
        if word not in ("keep", "leave"):
            raise UnreadableError(f"cannot read {text!r}; expected keep or leave", 1)
        turn = Choice(player or state.to_move or "p1", word == "keep")
        HarvestRules().apply(state, turn)
        return turn

    def describe(self, turn):
        return f"{turn.player} {'keeps' if turn.kept else 'leaves'} the die."

    def standing(self, state):
        return tuple(f"{player} {points}" for player, points in scores_of(state).items())

    def summary(self, options=None):
        values = read_options(OPTIONS, options)
        told = ", ".join(f"{name}={value}" for name, value in values.items())
        return f"Keep the die or leave it.\n\nOptions: {told}."


class HarvestAdvice:
    def hint(self, state, deadline_s, rng, *, clock, strength=None, earlier):
        turns = HarvestRules().perft_turns(state)
        if not turns:
            raise IllegalTurnError("there is nothing to choose")
        return Hint(turns[int(int(state.die) <= LEFT)], "gives more points", 5.0, "points", 1.0, 0)


DICE = HarvestDice()
GAME = Game(
    name="harvest",
    title="Harvest",
    players=PLAYERS,
    options=OPTIONS,
    places=PLAYERS,
    looks=(EMPTY,),
    rules=HarvestRules(),
    table=HarvestTable(),
    notation=HarvestNotation(),
    advice=HarvestAdvice(),
    dice=DICE,
    scores=scores_of,
)


def register(patch: pytest.MonkeyPatch) -> None:
    """Register this game until the patch is undone."""
    patch.setitem(sys.modules, f"engine.games.{GAME.name}.game", sys.modules[__name__])
    patch.setattr(registry, "games", lambda: (*games(), GAME.name))
