"""What Blockade is made of."""

from __future__ import annotations

from engine.api import Appearance, Game
from engine.games.blockade.advice.hints import find_hint
from engine.games.blockade.advice.playouts import play_random_games
from engine.games.blockade.board import PLACES, PLAYERS
from engine.games.blockade.explain import explain_change
from engine.games.blockade.notation import describe_turn, format_turn, parse_turn, turn_as_written
from engine.games.blockade.play.options import OPTIONS
from engine.games.blockade.rules import DICE, BlockadeRules
from engine.games.blockade.state import LOOKS, BlockadeState, appearance_of
from engine.games.blockade.state_text import format_state, parse_state
from engine.games.blockade.table import amended, set_up_state
from engine.games.blockade.table.unfinished import unfinished_positions
from engine.games.blockade.text.display import diagram_of, summary_of


class _Table:
    set_up = staticmethod(set_up_state)
    amend = staticmethod(amended)
    explain = staticmethod(explain_change)
    unfinished = staticmethod(unfinished_positions)

    def appearance(self, state: BlockadeState) -> Appearance:
        """Map every square to the look of its top piece, a1 first."""
        return appearance_of(state.stacks)


class _Notation:
    format_state = staticmethod(format_state)
    parse_state = staticmethod(parse_state)
    format_turn = staticmethod(format_turn)
    parse_turn = staticmethod(parse_turn)
    written_turn = staticmethod(turn_as_written)
    describe = staticmethod(describe_turn)
    diagram = staticmethod(diagram_of)
    summary = staticmethod(summary_of)


class _Advice:
    hint = staticmethod(find_hint)
    playouts = staticmethod(play_random_games)


GAME = Game(
    name="blockade",
    title="Blockade",
    players=PLAYERS,
    options=OPTIONS,
    places=PLACES,
    looks=LOOKS,
    rules=BlockadeRules(),
    table=_Table(),
    notation=_Notation(),
    advice=_Advice(),
    dice=DICE,
    # Where colours meet, one high roll can have a million ends.
    is_slow_to_list=True,
)
