"""What Diaballik is made of."""

from __future__ import annotations

from engine.api import Game
from engine.games.diaballik.advice.hints import find_hint
from engine.games.diaballik.advice.playouts import play_random_games
from engine.games.diaballik.explain import explain_change
from engine.games.diaballik.notation import describe_turn, format_turn, parse_turn
from engine.games.diaballik.play.board import PLACES, PLAYERS
from engine.games.diaballik.play.options import OPTIONS
from engine.games.diaballik.rules import DiaballikRules
from engine.games.diaballik.state import LOOKS, appearance_of
from engine.games.diaballik.state_text import format_state, parse_state
from engine.games.diaballik.table import amended, set_up_state
from engine.games.diaballik.table.unfinished import unfinished_positions
from engine.games.diaballik.text.display import diagram_of, summary_of


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


GAME = Game(
    name="diaballik",
    title="Diaballik",
    players=PLAYERS,
    options=OPTIONS,
    places=PLACES,
    looks=LOOKS,
    rules=DiaballikRules(),
    table=_Table(),
    notation=_Notation(),
    advice=_Advice(),
)
