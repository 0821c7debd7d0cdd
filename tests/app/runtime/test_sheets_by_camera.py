"""Pictures of three sheets: what is written on one is accepted while a hand writes, or rests, on another."""

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from app.runtime.builder import attention, open_session
from engine.registry import load
from journal.journal import Journal
from referee.commands.values import EnterRoll
from referee.judge.verdict import VerdictKind
from referee.session.ports import ServiceSettings
from simulator.play.actions import Arrangement, Slack
from simulator.play.players import HANDLERS
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import InkPose
from simulator.scene.scene import Hand, Scene, lens
from simulator.table import standard_setting
from vision.frame import Frame
from vision.layout.table import default_layout
from vision.readers.registry import reader_kind, table_reader

NAME, FPS = "number-drop", 5


def test_sheets_are_judged_while_a_hand_is_over_another() -> None:
    game: Any = load(NAME)
    layout = default_layout(NAME).with_sheets(3)
    setting = standard_setting(lens((1280, 720)), game=NAME, layout=layout)
    handler: Any = HANDLERS[NAME](layout, Slack(), np.random.default_rng(4))
    renderer = Renderer(5)
    looks = reader_kind(layout).plain(layout.board)
    reader = table_reader(setting.camera, layout, looks, attention=attention(game))
    settings = ServiceSettings(rest_s=0.6, options={"players": 3})
    numbers = iter(range(1000))

    with (
        Journal.in_memory(wall_clock=lambda: datetime.now(UTC)) as journal,
        open_session(game, reader, journal, settings) as service,
    ):

        def see(table: Arrangement, seconds: float, hand: Callable[[int], Hand] | None = None) -> list[str]:
            """Show a table; give the turns that are accepted."""
            accepted = []
            for number in (next(numbers) for _ in range(round(seconds * FPS))):
                hands = () if hand is None else (hand(number),)
                picture = renderer.render(Scene(setting, tuple(table.values()), hands), number)
                verdicts = service.step(Frame(picture, number / FPS, number))
                accepted += [turn for one in verdicts if one.kind is VerdictKind.ACCEPTED for turn in one.turns]
            return accepted

        def write(table: Arrangement, player: str, **digits: int) -> Arrangement:
            looks = {f"{player}.{cell}": f"digit {digit}" for cell, digit in digits.items()}
            return table.after_all(handler.write(table, player, looks))

        table = handler.set_up({})
        see(table, 1.0)
        draw = game.dice.possible_rolls(service.belief[0])[0].roll
        service.carry_out(EnterRoll(",".join(draw.faces), "p1"), lambda _: None)
        for number, player in enumerate(("p1", "p2", "p3"), 1):
            table = write(table, player, g1=number)
        assert len(see(table, 1.5)) == 3
        service.carry_out(EnterRoll("1,2,4,6,I", "p1"), lambda _: None)

        ((x, y),) = [
            (one.x_mm, one.y_mm) for one in table.values() if isinstance(one, InkPose) and one.place == "p2.g1"
        ]

        def writing(number: int, reach_mm: float = 12.0) -> Hand:
            tip = (x - 20 + reach_mm * math.sin(0.7 * number), y + 30 + reach_mm * math.cos(0.9 * number), 4.0)
            return Hand(tip, (x + 40, y - 330, 60.0))

        table = write(table, "p1", a1=1, b1=2, c1=4, d1=6)
        assert see(table, 2.5, writing) == ["a1=1,b1=2,c1=4,d1=6"]
        table = write(table, "p3", a1=2, b1=1, c1=4, d1=6)
        assert see(table, 3.0, lambda _: writing(0, 0.0)) == ["a1=2,b1=1,c1=4,d1=6"]
        assert [step.data["player"] for _, step in journal.events() if step.kind == "turn"][-2:] == ["p1", "p3"]
        table = write(table, "p2", a1=1, b1=4, c1=2, d1=6)
        assert see(table, 2.0) == ["a1=1,b1=4,c1=2,d1=6"]
