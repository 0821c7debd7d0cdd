"""How a state looks, and what a board that is seen says of it: a set-up, a correction, broken rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.games.breakthrough import rules
from engine.games.breakthrough.rules import GRID, PLACES, PLAYERS, BreakthroughState

from engine.errors import UnreadableError
from engine.support.breaches import PieceBreaches, illegal_start, pair_squares
from engine.support.grid import members, set_of
from engine.support.looks import LookTable
from engine.support.players import check_player, mover_after_correction
from engine.values import EMPTY, Appearance, Breach, LookName, OptionValue, Player, Unfinished

DISCS = LookTable({player: f"{player} piece" for player in PLAYERS}, PLACES)


def appearance(state: BreakthroughState) -> Appearance:
    """Map every square to its look, a1 first."""
    red, blue = state.discs
    return {place: DISCS.names[(red >> at & 1) + 2 * (blue >> at & 1)] for at, place in enumerate(PLACES)}


def _discs_in(looks: Appearance) -> tuple[int, int]:
    """Both players' discs; raises UnreadableError for a place or look that isn't one."""
    owners = DISCS.read_all(looks)
    red, blue = (set_of(GRID.index[at] for at, owner in owners.items() if owner == each) for each in PLAYERS)
    return red, blue


def set_up(
    appearance: Appearance, options: Mapping[str, OptionValue] | None = None, *, anywhere: bool = False
) -> BreakthroughState:
    """Give the start a board shows, empty where nothing is said; ``anywhere`` allows all squares but the far row."""
    start, discs = rules.new(options), _discs_in(appearance)
    breaches = []
    for player, own in zip(PLAYERS, discs, strict=True):
        wrong = own & rules.GOAL[player] if anywhere else own ^ start.of(player)
        if wrong or not 1 <= own.bit_count() <= rules.MOST_DISCS:
            told = f"{player.capitalize()}'s discs don't stand where a game begins."
            remedy, places = f"Set {player}'s discs up at their own edge.", GRID.names_of(wrong or GRID.every)
            breaches.append(Breach("start", told, remedy, places))
    if breaches:
        raise illegal_start(breaches)
    return replace(start, discs=discs)


def amend(state: BreakthroughState, looks: Mapping[str, LookName], to_move: Player | None = None) -> BreakthroughState:
    """Give the state as a person puts it right; raises UnreadableError for what can't be a position."""
    check_player(PLAYERS, to_move)
    mover = mover_after_correction(PLAYERS, to_move, state.to_move)
    _discs_in(looks)
    return checked(replace(state, discs=_discs_in({**appearance(state), **looks}), to_move=mover, announced=None))


def checked(state: BreakthroughState) -> BreakthroughState:
    """The state with nobody to move if it is over; raises UnreadableError for what can't be a position."""
    red, blue = state.discs
    if red & blue or not red | blue or max(red.bit_count(), blue.bit_count()) > rules.MOST_DISCS:
        raise UnreadableError(f"expected up to {rules.MOST_DISCS} discs a player, some at all, and one on a square")
    if red & rules.GOAL["red"] and blue & rules.GOAL["blue"]:
        raise UnreadableError("both players are on their far rows; expected one winner at most")
    return rules.settled(state)


def explain(before: BreakthroughState, after: Appearance) -> tuple[Breach, ...]:
    """Say which rules a change breaks, the mover's first; empty when nothing changed or a legal turn explains it."""
    _discs_in(after)
    discs = _discs_in({**appearance(before), **after})
    mover = before.to_move or PLAYERS[0]
    found: list[Breach] = []
    moves = 0
    taken: set[int] = set()
    for player in (mover, rules.other(mover)):
        was, now = before.of(player), discs[PLAYERS.index(player)]
        # A disc that was taken stood where one of the mover's came to by the rules.
        gone, come = set(members(was & ~now)) - (taken if player != mover else set()), set(members(now & ~was))
        moved = pair_squares(gone, come, GRID.apart)
        for start, end in moved:
            turn = rules.turn_of(before, player, start, end)
            breach = rules.breach_of(before, turn)
            if breach is None and moves:
                told = f"The disc on {turn.start} moved, too."
                breach = Breach("one-disc", told, f"Put it back on {turn.start}.", turn.places)
            found += [breach] if breach else []
            taken |= set() if breach else {end}
            moves += 1
        found += [PieceBreaches("disc").added(player, PLACES[at]) for at in sorted(come - {end for _, end in moved})]
        lost = gone - {start for start, _ in moved}
        for place in (PLACES[at] for at in sorted(lost)):
            sentence, remedy = f"The {player} disc on {place} is gone.", f"Put it back on {place}."
            found.append(Breach("disc-gone", sentence, remedy, (place,)))
    return tuple(found)


def unfinished(state: BreakthroughState) -> list[Unfinished]:
    """List each disc that may move lifted, and each that may be taken lifted before the other one comes."""
    turns = rules.legal_turns(state)
    lifted = {turn.start: f"Put the disc from {turn.start} down to finish the move." for turn in turns}
    lifted |= {turn.end: f"Move a disc onto {turn.end}, where one was taken." for turn in turns if turn.takes}
    return [Unfinished({place: EMPTY}, to_do) for place, to_do in lifted.items()]
