"""What holds in every position of a game: the first invariant that a typed or corrected one breaks."""

from collections.abc import Callable

from common.phrases import Phrase
from engine.games.number_drop import turns as playing
from engine.games.number_drop.sheet import (
    COLUMNS,
    EMPTY_CELL,
    LETTERS,
    STAR,
    Sheet,
    has_combination,
    landings,
    turned_shapes,
)
from engine.games.number_drop.state import (
    PLAYERS,
    SLIDES_TO_GO,
    NumberDropState,
    Phase,
)
from engine.games.number_drop.turns import penalty_shapes
from engine.support.grid import members, union

_BEFORE_PLAY = (Phase.TILES, Phase.SETUP)
_WAITING = (Phase.TILES, Phase.ROLL, Phase.OVER)
_BETWEEN_TURNS = (Phase.TILES, Phase.SETUP, Phase.ROLL, Phase.SLIDE)


def fault_of(state: NumberDropState) -> str | None:
    """Return the invariant that this position breaks, in words, or ``None``."""
    checks: tuple[Callable[[NumberDropState], str | None], ...] = (
        _of_sheets,
        _of_players,
        _of_pending,
        _of_start,
        _of_letters,
        _of_slides,
        _of_end,
    )
    return next((fault for check in checks if (fault := check(state))), None)


def _of_sheets(state: NumberDropState) -> str | None:
    for player, sheet in zip(PLAYERS, state.sheets, strict=False):
        fault = sheet.faults()
        if fault:
            return Phrase("the sheet of {player} {fault}", player, fault)
    return None


def _of_players(state: NumberDropState) -> str | None:
    pending = state.playing | state.combining
    if pending & state.gone or state.playing & state.combining:
        return Phrase("someone is to write who has resigned or has dropped already")
    if state.gone >> state.first & 1 and state.phase in _BETWEEN_TURNS:
        return Phrase("{player} is to roll, but has resigned", PLAYERS[state.first])
    if bool(pending) == (state.phase in _WAITING):
        return Phrase(
            "to= and then= must name who plays in a turn, and nobody where a roll is awaited or the game is over"
        )
    if state.combining and state.phase is not Phase.DROP:
        return Phrase("a combination is drawn after a drop only")
    return None


def _of_pending(state: NumberDropState) -> str | None:
    for player in members(state.combining):
        if not has_combination(state.sheets[player]):
            return Phrase("{player} has no combination to draw", PLAYERS[player])
    if state.phase not in (Phase.PENALTY, Phase.DROP):
        return None
    shapes = turned_shapes(state.options.components, state.roll[-1]) if state.phase is Phase.DROP else None
    for player in members(state.playing):
        if not landings(state.sheets[player].heights, shapes or penalty_shapes(state)):
            return Phrase("the shape fits nowhere on the sheet of {player}", PLAYERS[player])
    return None


def _of_start(state: NumberDropState) -> str | None:
    if (state.phase is Phase.TILES) == bool(state.tiles) and state.phase is not Phase.OVER:
        return Phrase("slots= is for a table whose tiles are drawn, and for every such table")
    if state.phase not in _BEFORE_PLAY:
        return None
    if state.phase is Phase.SETUP and state.playing != playing.players_without_digit(state):
        return Phrase("in the set-up those with an empty sheet write, and nobody else")
    for player, sheet in enumerate(state.sheets):
        if sheet != Sheet() and not is_first_digit(sheet, player):
            return Phrase("{player} begins with one {digit} on the lowest line", PLAYERS[player], player + 1)
    if any(state.notches) or state.crossed_off:
        return Phrase("before the first roll no tile slides and no letter is crossed off")
    return None


def is_before_play(state: NumberDropState) -> bool:
    """Return whether no sheet shows more than its player's first digit."""
    return all(sheet == Sheet() or is_first_digit(sheet, player) for player, sheet in enumerate(state.sheets))


def is_first_digit(sheet: Sheet, player: int) -> bool:
    """Return whether a sheet shows a player's first digit and nothing else."""
    return sheet.cells[:COLUMNS].strip(EMPTY_CELL) == str(player + 1) and max(sheet.heights) == 1


def _of_letters(state: NumberDropState) -> str | None:
    if state.options.solo:
        down = sum(1 << slot for slot, notch in enumerate(state.notches) if notch == SLIDES_TO_GO)
        if state.crossed_off != down:
            return Phrase("in the solo game the letters of the tiles at the bottom are crossed off, and no others")
    elif state.crossed_off & ~union(sheet.letters for sheet in state.sheets):
        return Phrase("a letter is crossed off that nobody circled")
    if state.slot is None:
        return None
    if any(state.sheets[player].letters >> state.slot & 1 for player in members(state.playing)):
        return Phrase("a player who circled {letter} doesn't drop its penalty", LETTERS[state.slot])
    if not state.options.solo and state.crossed_off >> state.slot & 1:
        return Phrase("the letter {letter} is crossed off, so its penalty doesn't drop", LETTERS[state.slot])
    if not state.options.solo and not any(sheet.letters >> state.slot & 1 for sheet in state.sheets):
        return Phrase("nobody circled {letter}, so its penalty doesn't drop", LETTERS[state.slot])
    return None


def _of_slides(state: NumberDropState) -> str | None:
    solo = state.options.solo
    if state.phase in (Phase.SLIDE, Phase.STAR_SLIDE) and (not solo or not playing.slidable(state)):
        return Phrase("a slide needs a tile that can slide, and the solo game")
    if state.phase is Phase.STAR_SLIDE and not state.has_star():
        return Phrase("a star-slide needs a star")
    if state.star_slid and not (solo and state.phase is Phase.PENALTY and STAR in state.roll):
        return Phrase("star_slid= belongs to a penalty of the solo game after a star")
    if solo and state.slot is not None and state.notches[state.slot] != SLIDES_TO_GO:
        return Phrase("the tile {letter} isn't at the bottom, so its penalty doesn't drop", LETTERS[state.slot])
    return None


def _of_end(state: NumberDropState) -> str | None:
    given_up = playing.is_given_up(state) or state.drawn
    ended = given_up or playing.is_last_turn(state)
    if state.phase is Phase.OVER:
        return None if ended else Phrase("the game is over, but nothing ended it")
    if given_up:
        return Phrase("the game goes on, but it was given up or drawn")
    if state.phase in _BETWEEN_TURNS and ended:
        return Phrase("the game goes on after a turn that ended it")
    if not state.options.solo and any(state.playing >> player & 1 for player in playing.reached_the_line(state)):
        return Phrase("someone above the Game Over line is still to drop")
    return None
