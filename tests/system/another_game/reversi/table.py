"""How a state looks, and what a board that is seen says of it: a set-up, a correction, broken rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.games.reversi import rules
from engine.games.reversi.rules import GRID, PLACES, PLAYERS, START, ReversiState

from common.phrases import listed
from engine.errors import UnreadableError
from engine.support.breaches import game_over_breach, illegal_start
from engine.support.grid import members, set_of
from engine.support.looks import LookTable
from engine.support.players import check_player, mover_after_correction
from engine.values import Appearance, Breach, LookName, OptionValue, Player, Unfinished

DISCS = LookTable({player: f"{player} piece" for player in PLAYERS}, PLACES)


def appearance(state: ReversiState) -> Appearance:
    """Map every square to its look, a1 first."""
    black, white = state.discs
    return {place: DISCS.names[(black >> at & 1) + 2 * (white >> at & 1)] for at, place in enumerate(PLACES)}


def _discs_in(looks: Appearance) -> tuple[int, int]:
    """Both players' discs; raises UnreadableError for a place or look that isn't one."""
    owners = DISCS.read_all(looks)
    black, white = (set_of(GRID.index[at] for at, owner in owners.items() if owner == each) for each in PLAYERS)
    return black, white


def set_up(
    appearance: Appearance, options: Mapping[str, OptionValue] | None = None, *, anywhere: bool = False
) -> ReversiState:
    """Give the start a board shows, empty where nothing is said; ``anywhere`` also allows it mirrored."""
    discs = _discs_in(appearance)
    if discs != START and not (anywhere and discs == START[::-1]):
        wrong = GRID.names_of(discs[0] ^ START[0] | discs[1] ^ START[1])
        told = "The discs don't lie as a game begins."
        raise illegal_start([Breach("start", told, "Put black on c3 and d4, white on c4 and d3.", wrong)])
    return replace(rules.new(options), discs=discs)


def amend(state: ReversiState, looks: Mapping[str, LookName], to_move: Player | None = None) -> ReversiState:
    """Give the state as a person puts it right; raises UnreadableError for what can't be a position."""
    check_player(PLAYERS, to_move)
    mover = mover_after_correction(PLAYERS, to_move, state.to_move)
    _discs_in(looks)
    return checked(replace(state, discs=_discs_in({**appearance(state), **looks}), to_move=mover, announced=None))


def checked(state: ReversiState) -> ReversiState:
    """The state with nobody to move if it is over; raises UnreadableError for what can't be a position."""
    black, white = state.discs
    if black & white or (START[0] | START[1]) & ~(black | white):
        raise UnreadableError("expected one disc on a square at most, and one on each of c3, c4, d3 and d4")
    return rules.settled(state)


def explain(before: ReversiState, after: Appearance) -> tuple[Breach, ...]:
    """Say which rules a change breaks; empty when nothing changed or a legal turn explains it."""
    _discs_in(after)
    was, now = before.discs, _discs_in({**appearance(before), **after})
    if was == now:
        return ()
    had, has = was[0] | was[1], now[0] | now[1]
    gone, come, turned = had & ~has, has & ~had, had & has & (was[0] ^ now[0])
    if before.to_move is None:
        return (game_over_breach(GRID.names_of(gone | come | turned)),)
    found = [
        Breach("disc-gone", f"The disc on {place} is gone.", f"Put it back on {place}.", (place,))
        for place in GRID.names_of(gone)
    ]
    put = ((owner, at) for owner, own in zip(PLAYERS, now, strict=True) for at in members(come & own))
    turns = [rules.turn_of(*each, turned) for each in put]
    # The disc meant is the one that breaks the fewest rules; without one, discs were turned over for nothing.
    turns.sort(key=lambda turn: (len(rules.breaches_of(before, turn)), turn.player != before.to_move))
    found += rules.breaches_of(before, turns[0]) if turns else []
    for new in (turn.places[:1] for turn in turns[1:]):
        found.append(Breach("one-disc", f"{new[0]} has a second new disc.", f"Take it off {new[0]}.", new, adds=True))
    if turned and not turns:
        names = GRID.names_of(turned)
        told = f"{listed(names)} turned over, and no disc put down."
        found.append(Breach("turn-no-other", told, f"Turn {listed(names)} back.", names))
    return tuple(found)


def unfinished(state: ReversiState) -> list[Unfinished]:
    """List each disc put down before all that it outflanks are turned over, one after another."""
    return [
        Unfinished(dict.fromkeys(turn.places[:count], f"{turn.player} piece"), f"Turn over {turn.places[count]}.")
        for turn in rules.legal_turns(state)
        for count in range(1, len(turn.places))
    ]
