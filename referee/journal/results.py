"""How a game ended, in words; results of several games: games won, drawn and lost, against whom, and points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from common.phrases import Phrase, as_sentence, capitalized, either, listed, with_minus, without_stop
from engine import registry
from engine.api import Game
from engine.errors import EngineError
from engine.support.players import RESIGN, parse_announcement, who_plays
from engine.values import Outcome, OutcomeKind, Player
from referee.errors import FoldError
from referee.journal.events import Event, EventKind
from referee.journal.fold import fold
from referee.journal.reader import JournalReader


def outcome_sentence(outcome: Outcome, called: Callable[[Player], str] = str) -> str:
    """Say how a game ended: ``Teal wins: gold resigned.`` ``called`` returns a player's name."""
    if outcome.kind is OutcomeKind.STOPPED:
        return Phrase("The game was stopped before its end.")
    reason = with_minus(without_stop(outcome.reason))
    if outcome.shared_by:
        shared_by = capitalized(listed(called(player) for player in outcome.shared_by))
        if outcome.points_each is not None:
            best = with_minus(str(outcome.points_each))
            why = reason.parts["why"] if isinstance(reason, Phrase) else reason.rpartition("; ")[0]
            return either(
                best == "1",
                "{shared_by} share the win with {best} point each: {why}.",
                "{shared_by} share the win with {best} points each: {why}.",
                shared_by,
                best,
                why,
            )
        return Phrase("{shared_by} share the win: {reason}.", shared_by, reason)
    if outcome.kind is OutcomeKind.SCORE:
        return as_sentence(reason)
    if outcome.kind is OutcomeKind.GIVEN_UP:
        return Phrase("The game was given up: {reason}.", reason)
    if outcome.winner is None:
        return Phrase("A draw: {reason}.", reason)
    winner = called(outcome.winner)
    return Phrase("{winner} wins: {reason}.", capitalized(winner), reason)


@dataclass(frozen=True)
class PlayedGame:
    """A finished game: names by side, how it ended, and the points if the game has them.

    ``resigned`` are the sides that resigned or lost on time. ``unnamed`` sides are called by their side.
    """

    names: Mapping[Player, str]
    outcome: Outcome
    scores: Mapping[Player, int] = field(default_factory=dict)
    resigned: frozenset[Player] = frozenset()
    unnamed: frozenset[Player] = frozenset()

    @property
    def winners(self) -> frozenset[Player]:
        """The sides that won; none in a draw."""
        return frozenset(self.outcome.shared_by or ((self.outcome.winner,) if self.outcome.winner else ()))

    def lead(self, one: Player, other: Player) -> int | None:
        """1 if one side did better than the other, -1 if worse, 0 if equally well; ``None`` if undecided.

        Of two sides that lost, one that resigned did worse; otherwise their points decide.
        """
        ahead = (one in self.winners) - (other in self.winners)
        if ahead or not self.winners or one in self.winners:
            return ahead
        if (one in self.resigned) is not (other in self.resigned):
            return (other in self.resigned) - (one in self.resigned)
        if one not in self.scores or other not in self.scores:
            return None
        return (self.scores[one] > self.scores[other]) - (self.scores[one] < self.scores[other])


KnownResults = dict[int, tuple[int, PlayedGame | None]]
"""By game: the number of its newest event, and its result; ``None`` if it was not finished or can't be read."""


@dataclass(frozen=True)
class Tally:
    """Games won, drawn (including shared victories) and lost."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def played(self) -> int:
        """Number of games."""
        return self.won + self.drawn + self.lost

    def plus(self, ahead: int) -> Tally:
        """Add one game: won (1), drawn (0) or lost (-1)."""
        return Tally(self.won + (ahead > 0), self.drawn + (ahead == 0), self.lost + (ahead < 0))


@dataclass(frozen=True)
class Standing:
    """The results of one name: its games, and its points in games that have them (``None`` without such games).

    ``is_side`` if it is a side whose players gave no name.
    """

    name: str
    tally: Tally
    points: int | None = None
    is_side: bool = False


@dataclass(frozen=True)
class Results:
    """The table of some games, the best first, then the sides without a name.

    ``against`` are each name's games by opponent. ``left_out`` are the numbers of games that were not finished or can't
    be read.
    """

    standings: tuple[Standing, ...] = ()
    against: Mapping[tuple[str, str], Tally] = field(default_factory=dict)
    left_out: tuple[int, ...] = ()


def results_of(games: Iterable[PlayedGame], left_out: tuple[int, ...] = ()) -> Results:
    """Sum up games by the names of the players, exactly as they were typed."""
    tallies: dict[str, Tally] = {}
    points: dict[str, int] = {}
    against: dict[tuple[str, str], Tally] = {}
    sides: set[str] = set()
    for game in games:
        sides |= game.unnamed
        for side, name in game.names.items():
            is_drawn = not game.winners or (side in game.winners and len(game.winners) > 1)
            ahead = 0 if is_drawn else 1 if side in game.winners else -1
            tallies[name] = tallies.get(name, Tally()).plus(ahead)
            if side in game.scores:
                points[name] = points.get(name, 0) + game.scores[side]
        for one, other in combinations(game.names, 2):
            lead = game.lead(one, other)
            if lead is not None:
                pair = (game.names[one], game.names[other])
                against[pair] = against.get(pair, Tally()).plus(lead)
                against[pair[::-1]] = against.get(pair[::-1], Tally()).plus(-lead)
    standings = [Standing(name, tally, points.get(name), name in sides) for name, tally in tallies.items()]
    standings.sort(
        key=lambda each: (
            each.is_side, -each.tally.won, -each.tally.drawn, -(each.points or 0), each.tally.lost, each.name
        )
    )  # fmt: skip
    return Results(tuple(standings), against, left_out)


def played_game(game: Game[Any, Any], events: list[tuple[int, Event]]) -> PlayedGame | None:
    """Return the result of a game's (number, event) pairs, ``None`` if it was not finished.

    Players without a name are named by their side. Raises FoldError if the events are inconsistent.
    """
    folded = fold(game, events)
    is_result = folded.outcome is not None and folded.outcome.kind in {OutcomeKind.RESULT, OutcomeKind.SCORE}
    if folded.outcome is None or not is_result or not folded.start:
        return None
    names = events[0][1].names
    playing = who_plays(game, folded.start[0])
    scores = {} if game.scores is None else game.scores(folded.states[0])
    said = [parse_announcement(step.text, game.players) for step in folded.steps if step.kind == EventKind.ANNOUNCED]
    resigned = frozenset(each.player for each in said if each.kind == RESIGN and each.player is not None)
    unnamed = frozenset(side for side in playing if not names.get(side))
    called = {side: names.get(side) or side for side in playing}
    return PlayedGame(called, folded.outcome, scores, resigned, unnamed)


def results_in(journal: JournalReader, first: int = 1, known: KnownResults | None = None) -> Results:
    """Return the results of a journal's games from number ``first`` on.

    ``known`` keeps them between calls, so that only games with new events are replayed.
    """
    known = {} if known is None else known
    games, left_out = [], []
    for number, newest in journal.newest_by_game().items():
        if number < first:
            continue
        if number not in known or known[number][0] != newest:
            known[number] = newest, _result_of(journal.events(number))
        played = known[number][1]
        if played is None:
            left_out.append(number)
        else:
            games.append(played)
    return results_of(games, tuple(left_out))


def _result_of(events: list[tuple[int, Event]]) -> PlayedGame | None:
    """Return a game's result, ``None`` if it was not finished or can't be read."""
    try:
        return played_game(registry.load(str(events[0][1].data.get("game", ""))), events)
    except (EngineError, FoldError):
        return None
