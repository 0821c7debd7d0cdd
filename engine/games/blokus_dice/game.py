"""What the Blokus Dice Game is made of. Places are those of four sheets that ship; a state has its own."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api import Game, OptionValue
from engine.games.blokus_dice import rolls
from engine.games.blokus_dice.advice.hints import find_hint
from engine.games.blokus_dice.advice.playouts import play_random_games
from engine.games.blokus_dice.notation import diagram_of, sheet_drawn, summary_of
from engine.games.blokus_dice.play.options import OPTIONS, PLAYERS
from engine.games.blokus_dice.rules import BlokusDiceRules
from engine.games.blokus_dice.sheet import format_sheet, house_file, read_sheet_file
from engine.games.blokus_dice.state import LOOKS, appearance_of
from engine.games.blokus_dice.state_text import format_state, parse_state
from engine.games.blokus_dice.table import explain_change
from engine.games.blokus_dice.table.set_up import amended, set_up_state
from engine.games.blokus_dice.table.unfinished import unfinished_positions
from engine.games.blokus_dice.text.turns import describe_turn, format_turn, parse_turn
from engine.games.blokus_dice.turns import scores_of


class _Table:
    appearance = staticmethod(appearance_of)
    set_up = staticmethod(set_up_state)
    amend = staticmethod(amended)
    explain = staticmethod(explain_change)
    unfinished = staticmethod(unfinished_positions)


class _Notation:
    format_state = staticmethod(format_state)
    parse_state = staticmethod(parse_state)
    format_turn = staticmethod(format_turn)
    parse_turn = staticmethod(parse_turn)
    describe = staticmethod(describe_turn)
    diagram = staticmethod(diagram_of)
    summary = staticmethod(summary_of)


class _Advice:
    hint = staticmethod(find_hint)
    playouts = staticmethod(play_random_games)


class _Dice:
    awaits_roll = staticmethod(rolls.awaits_roll)
    possible_rolls = staticmethod(rolls.possible_rolls_of)
    rolled = staticmethod(rolls.rolled)
    roll_of = staticmethod(rolls.roll_of)
    parse_roll = staticmethod(rolls.parse_roll)


class _SheetFile:
    option = "sheet"
    text = staticmethod(house_file)

    def read(self, text: str) -> Mapping[str, OptionValue]:
        """Read a sheet file and give the option it comes to; raises UnreadableError, a line for every fault."""
        return {self.option: format_sheet(read_sheet_file(text)[1])}

    def draw(self, text: str) -> str:
        """Draw the sheet of a sheet file as it is printed; raises UnreadableError, a line for every fault."""
        title, sheet = read_sheet_file(text)
        return "\n".join([*([title, ""] if title else []), sheet_drawn(sheet)])


_RULES = BlokusDiceRules()

GAME = Game(
    name="blokus-dice",
    title="Blokus Dice Game",
    players=PLAYERS,
    options=OPTIONS,
    places=tuple(appearance_of(_RULES.new())),
    looks=LOOKS,
    rules=_RULES,
    table=_Table(),
    notation=_Notation(),
    advice=_Advice(),
    dice=_Dice(),
    scores=scores_of,
    sheet_file=_SheetFile(),
)
