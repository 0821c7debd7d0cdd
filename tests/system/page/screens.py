"""Every screen of the page in a state that is always the same, to be looked at and measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from engine.registry import games, load
from engine.values import EMPTY
from referee.commands.values import EnterRoll, EnterTurn, NewGame, PauseClock
from referee.judge.sentences import doubtful, which_turn
from referee.judge.verdict import Verdict, VerdictKind
from tests.games.known import known_of
from tests.system.page.served import Camera, Session, page_of, paired_page_of, session

NAMES = ("Anna", "Ben", "Clara", "David", "Emma", "Finn")
NOW = datetime(2026, 1, 6, 20, 15, tzinfo=UTC)
"""The only time that is ever shown."""


@dataclass(frozen=True)
class Screen:
    """Where a screen is served while its context lasts, and what a person does first.

    ``is_table`` if it is the table's own page, with players and a drawing of the table.
    """

    served: Callable[[Path], AbstractContextManager[str]]
    first: Callable[[Any], None] = lambda page: None
    is_table: bool = False


def _play(running: Session, steps: Sequence[str]) -> None:
    """Type turns and rolls, as in the games' files: the player's name may stand before a turn."""
    for step in steps:
        who, _, rest = step.partition(" ")
        if who == "roll":
            reply = running.tell(EnterRoll(rest, "Ann"))
        elif who in running.game.players:
            reply = running.tell(EnterTurn(rest, "Ann", who))
        else:
            reply = running.tell(EnterTurn(step, "Ann"))
        assert not reply.refused, (step, reply)


@contextmanager
def table_of(
    folder: Path,
    name: str,
    steps: Sequence[str] | None = None,
    *,
    path: str = "/",
    control: str = "none",
    more_options: Mapping[str, Any] | None = None,
    then: Callable[[Session], None] = lambda running: None,
    is_set_up: bool = True,
) -> Iterator[str]:
    """Serve a table whose players have names, after ``steps``: by default those before the docs' screen of the game."""
    shown = known_of(name)["screen"]
    options = {**shown.get("options", {}), **(more_options or {})}
    with session(name, folder, options, wall_clock=lambda: NOW) as running:
        count = options.get("players", 2)
        names = dict(zip(running.game.players[:count], NAMES, strict=False))
        assert not running.tell(NewGame(name, options, names, clock=control, by="Ann")).refused
        if is_set_up:
            running.end_turn()
            _play(running, shown["played"] if steps is None else steps)
        then(running)
        with page_of(running) as address:
            yield address + path


def _show(verdict: Verdict, running: Session) -> None:
    """Publish a verdict that the judge would give."""
    assert running.snapshots.newest is not None
    running.hear(replace(running.snapshots.newest.snapshot, verdict=verdict))


def two_turns(running: Session) -> None:
    """Two turns look alike."""
    assert running.snapshots.newest is not None
    rules, notation = running.game.rules, running.game.notation
    turns = rules.legal_turns(running.snapshots.newest.snapshot.states[0])[-2:]
    sentence = which_turn(list(map(notation.describe, turns)))
    written, players = tuple(map(notation.format_turn, turns)), tuple(turn.player for turn in turns)
    _show(Verdict(VerdictKind.AMBIGUOUS, sentence, 0.0, 0, candidates=written, candidate_players=players), running)


def _unsure(running: Session) -> None:
    place = "p2.c2"
    asked = Verdict(
        VerdictKind.AMBIGUOUS,
        doubtful([place], {}),
        0.0,
        0,
        places=(place,),
        expected={place: EMPTY},
        seen={place: "blue"},
    )
    _show(asked, running)


def _illegal(running: Session) -> None:
    """A piece stands two steps too far."""
    running.reader.looks = dict(running.snapshots.newest.snapshot.appearance)  # type: ignore[union-attr]
    running.reader.looks |= {"a7": EMPTY, "a3": "white piece"}
    running.end_turn()


def blind(running: Session) -> None:
    """No picture comes from the camera."""
    assert running.snapshots.newest is not None
    trouble = "No new picture from the camera for 12 s. Is it plugged in?"
    running.hear(replace(running.snapshots.newest.snapshot, trouble=trouble))


def _half_set_up(running: Session) -> None:
    """Two pieces are still missing, and one stands on the wrong square."""
    running.reader.looks |= {"a1": EMPTY, "c3": "black piece", "b7": EMPTY}
    running.end_turn()


def _pause(running: Session) -> None:
    assert not running.tell(PauseClock("Ann")).refused


def _press(*names: str) -> Callable[[Any], None]:
    """Tap buttons by name, or squares."""

    def first(page: Any) -> None:
        for name in names:
            if name.startswith("#place"):
                page.locator(name).dispatch_event("click")
                page.wait_for_selector("#board .tap-mark.tapped", state="attached")
            else:
                page.locator(name).click()

    return first


def _own(player: str) -> Callable[[Any], None]:
    """Say whose phone this is, and wait until it is."""

    def first(page: Any) -> None:
        page.locator(f"#whose_phone [value={player}]").click()
        page.wait_for_selector("#whose_phone summary")

    return first


@contextmanager
def _pairing(folder: Path) -> Iterator[str]:
    with session("diaballik", folder, wall_clock=lambda: NOW) as running, paired_page_of(running) as page:
        yield page.address.rstrip("/") + "/pair"


@contextmanager
def _setting_up(folder: Path, done: Sequence[str] | None = None) -> Iterator[str]:
    """The set-up of a table before its choice of a game, or after some steps; the camera sees the bare table."""
    # The renderer takes long to import.
    from app.setup.steps import Progress
    from tests.system.page.test_set_up import page_in
    from tests.system.setup.test_setup import pictures_of

    game = "deblockle"
    pictures, camera = pictures_of(game), Camera(folder / "seen")
    height, width = pictures.bare.shape[:2]
    values = {"camera.source": f"folder:{camera.folder}", "camera.width_px": width, "camera.height_px": height}
    camera.show(pictures.bare)
    kept = None if done is None else Progress(folder, game, list(done), values)
    with page_in(folder, camera, kept) as address:
        yield address


@contextmanager
def _hall(folder: Path, path: str = "/") -> Iterator[str]:
    """A hall with a table that needs an arbiter, and a result."""
    # The libraries of the hall are optional.
    from frontends.documents import VerdictDocument
    from tests.hall.halls import OPENED, event, state
    from tests.hall.web.visits import Visit, serving

    visit = Visit(folder)
    feed = visit.feeds[1]
    feed.begin(NAMES[:2], 0)
    for _ in range(5):
        feed.advance()
    game = load("deblockle")
    position = game.notation.parse_state(feed.state().position or "")
    believed = dict(game.table.appearance(position))
    moved = next(place for place, look in believed.items() if look != EMPTY)
    to = next(place for place in reversed(believed) if believed[place] == EMPTY)
    looks = {moved: EMPTY, to: believed[moved]}
    breach = game.table.explain(position, believed | looks)[0]
    verdict = VerdictDocument(
        kind="illegal",
        sentence=breach.sentence,
        remedy=breach.remedy,
        places=(moved, to),
        expected={place: believed[place] for place in looks},
        seen=looks,
    )
    told = feed.state().model_copy(update={"verdict": verdict})
    visit.hall.take([*map(event, feed.events[-6:]), replace(state(feed), payload=told.model_dump_json().encode())])
    with serving(visit.app) as address:
        yield address + path
    with ExitStack() as stack:
        while OPENED:
            stack.enter_context(closing(OPENED.pop()))


def _over() -> list[str]:
    return list(known_of("diaballik")["whole_game"]["steps"])


_dia = partial(table_of, name="diaballik")
SCREENS: dict[str, Screen] = {
    **{f"table-{name}": Screen(partial(table_of, name=name), is_table=True) for name in games()},
    "table-blokus-dice-2": Screen(
        partial(table_of, name="blokus-dice", steps=known_of("blokus-dice")["whole_game"]["steps"][:5],
                more_options={"players": 2}), is_table=True),
    "table-number-drop-6": Screen(
        partial(table_of, name="number-drop", steps=known_of("number-drop")["screen"]["played"][:1],
                more_options={"players": 6}), is_table=True),
    "own-sheet": Screen(partial(table_of, name="number-drop"), _own("p3"), is_table=True),
    "own-board": Screen(partial(table_of, name="blockade"), _own("cool"), is_table=True),
    "only-the-table": Screen(
        partial(_dia, control="fischer 5+3", path="/?view=wall", then=_pause), is_table=True),
    "clock": Screen(partial(_dia, control="fischer 5+3", then=_pause), is_table=True),
    "waiting": Screen(partial(_dia, is_set_up=False), is_table=True),
    "waiting-wrong": Screen(partial(_dia, is_set_up=False, then=_half_set_up), is_table=True),
    "rolling": Screen(partial(table_of, name="blockade", steps=()), is_table=True),
    "question": Screen(partial(table_of, name="number-drop", then=two_turns), is_table=True),
    "question-square": Screen(partial(table_of, name="blokus-dice", then=_unsure), is_table=True),
    "illegal": Screen(partial(_dia, then=_illegal), is_table=True),
    "tapping": Screen(partial(_dia), _press("[data-deed=tap]", "#place-a6"), is_table=True),
    "game-over": Screen(partial(_dia, steps=_over())),
    "new-game": Screen(partial(_dia, path="/new")),
    "history": Screen(partial(_dia, steps=_over(), path="/history")),
    "replay": Screen(partial(_dia, steps=_over(), path="/history/6")),
    "correct": Screen(partial(_dia, path="/correct")),
    "enter": Screen(partial(_dia, path="/enter")),
    "owner": Screen(partial(_dia, path="/owner")),
    "results": Screen(partial(_dia, steps=_over(), path="/results")),
    "games": Screen(partial(_dia, steps=_over(), path="/games")),
    "pairing": Screen(_pairing),
    "set-up-game": Screen(_setting_up),
    "set-up-camera": Screen(partial(_setting_up, done=("kit", "print"))),
    "set-up-table": Screen(partial(_setting_up, done=("kit", "print", "camera"))),
    "hall-floor": Screen(_hall),
    "hall-table": Screen(partial(_hall, path="/tables/table-2")),
    "hall-wall": Screen(partial(_hall, path="/wall")),
}  # fmt: skip
"""By name. The first are the games' tables in the middle of a game."""
