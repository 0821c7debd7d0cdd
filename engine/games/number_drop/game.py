"""What Number Drop is made of. Players and places are those of the largest game; a state has its own."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Game, Unfinished
from engine.games.number_drop.advice.hints import find_hint
from engine.games.number_drop.advice.playouts import play_random_games
from engine.games.number_drop.components import components_file, drawn_file, options_of_file
from engine.games.number_drop.flow import scores_of
from engine.games.number_drop.notation import describe_turn, format_turn, parse_turn
from engine.games.number_drop.play.options import OPTIONS
from engine.games.number_drop.rules import NumberDropDice, NumberDropRules
from engine.games.number_drop.state import LOOKS, PLACES, PLAYERS, NumberDropState, appearance_of
from engine.games.number_drop.state_text import format_state, parse_state
from engine.games.number_drop.table import amended, set_up_state
from engine.games.number_drop.table.explain import explain_change
from engine.games.number_drop.text.display import diagram_of, summary_of


class _Table:
    appearance = staticmethod(appearance_of)
    set_up = staticmethod(set_up_state)
    amend = staticmethod(amended)
    explain = staticmethod(explain_change)

    def unfinished(self, state: NumberDropState) -> Sequence[Unfinished]:  # noqa: ARG002
        """List nothing: a half-written shape has far too many forms; it is told as what it still lacks."""
        return ()


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


class _SheetFile:
    option = None
    text = staticmethod(components_file)
    read = staticmethod(options_of_file)
    draw = staticmethod(drawn_file)


GAME = Game(
    name="number-drop",
    title="Number Drop",
    players=PLAYERS,
    options=OPTIONS,
    places=PLACES,
    looks=LOOKS,
    rules=NumberDropRules(),
    table=_Table(),
    notation=_Notation(),
    advice=_Advice(),
    dice=NumberDropDice(),
    scores=scores_of,
    sheet_file=_SheetFile(),
)
