"""What Deblockle is made of."""

from __future__ import annotations

from engine.api import Game
from engine.games.deblockle.advice.hints import find_hint
from engine.games.deblockle.advice.playouts import play_random_games
from engine.games.deblockle.explain import explain_change
from engine.games.deblockle.notation import describe_turn, format_turn, parse_turn
from engine.games.deblockle.play.board import PLACES, PLAYERS
from engine.games.deblockle.play.options import OPTIONS
from engine.games.deblockle.rules import DeblockleRules
from engine.games.deblockle.state import LOOKS, appearance_of, facings_of
from engine.games.deblockle.state_text import format_state, parse_state
from engine.games.deblockle.table import amended, set_up_state
from engine.games.deblockle.table.unfinished import unfinished_positions
from engine.games.deblockle.text.display import diagram_of, summary_of
from engine.games.deblockle.turns import narrowed


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


class _SideFaces:
    facings = staticmethod(facings_of)
    narrow = staticmethod(narrowed)
    explain = staticmethod(explain_change)


GAME = Game(
    name="deblockle",
    title="Deblockle",
    players=PLAYERS,
    options=OPTIONS,
    places=PLACES,
    looks=LOOKS,
    rules=DeblockleRules(),
    table=_Table(),
    notation=_Notation(),
    advice=_Advice(),
    side_faces=_SideFaces(),
)
