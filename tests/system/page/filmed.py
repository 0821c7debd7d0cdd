"""Films and photos of a virtual table, as a phone takes them, and the referee that gets them."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from app.settings.table_layout import with_rules
from engine.registry import load
from journal.reader import read_journal
from referee.record.events import Event, EventKind
from referee.record.fold import fold
from simulator.play.actions import Action, ActionKind
from simulator.play.game import GameOptions, TruthLog, VirtualGame
from simulator.play.players import Habits, Players
from simulator.rendering.renderer import Renderer
from simulator.scene.paper import on_paper
from simulator.scene.scene import Scene, Setting, first_fitting, growing_distances, lens, looking_at
from simulator.scene.sheets import extent_mm
from simulator.table import standard_setting
from tests.system.page.conftest import CHROMIUM
from tests.system.page.seen import expect
from tests.system.page.served import ANSWER_S, free_port
from tests.vision.photos import FILM_DIAGONAL_MM, telling
from vision.frame import Image
from vision.geometry import Pose
from vision.layout.table import default_layout

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
ROOT = Path(__file__).resolve().parents[3]
HONEST = Habits(violation_share=0, straighten_share=0, try_out_share=0, rest_share=0)
BUSY = Habits(violation_share=0.15, straighten_share=0.1, try_out_share=0.1, rest_share=0.1, patience_s=6, settle_s=1.5)
CHROMIUMS_FPS = 30
"""The rate at which Chromium plays such a file, again and again."""
_FPS = 5
_SIZE = (960, 540)
_ENDS_S = 30
"""How long, in seconds, the film shows the last position."""
_ROOM_PX = 12
_PAUSE_S, _CALL_S = 6, 10
_MISHAPS, _ZOOM, _DARK = 5, 0.85, 0.0002
_NUDGE_DEG = (0.8, -1.2, 1.0)


@dataclass(frozen=True)
class TableFilm:
    """A game on a virtual table, by its ``options``: ``file`` is its film, which takes ``length_s`` seconds.

    ``positions`` are pictures of the set-up, and of the table after each turn.
    ``steps`` is how many rolls and turns it shows, ``turns`` the turns, ``looks`` what the table shows then, ``faults``
    how often the players broke the rules. After ``paused_after`` steps they wait a little.
    """

    options: GameOptions
    file: Path
    positions: tuple[Image, ...]
    length_s: float
    steps: int
    turns: tuple[str, ...]
    looks: Mapping[str, str]
    faults: int
    paused_after: int


def film_of(
    options: GameOptions,
    folder: Path,
    *,
    looks_s: float = 8,
    nudged_after: int = 99,
    paused_after: int = 99,
    seed: int = 5,
    is_of_paper: bool = False,
    tilt_deg: float | None = None,
    size: tuple[int, int] = _SIZE,
) -> TableFilm:
    """Film a game; the set-up is shown first. After so many turns the camera is nudged, and the players wait.

    ``tilt_deg`` is that of the camera, if not the usual one, and ``size`` the width and height of its pictures.
    """
    game, truth = load(options.game), TruthLog()
    setting = standard_setting(lens(size), game.name, with_rules(default_layout(game.name), game, options.rules))
    setting = setting if tilt_deg is None else replace(setting, pose=_tilted(setting, tilt_deg))
    setting = on_paper(setting, seed) if is_of_paper else setting
    played = VirtualGame(seed, setting.layout, options, truth)
    renderer, rng, positions = Renderer(seed), np.random.default_rng(seed), list[Image]()
    file, still, frames, paused = folder / f"{game.name}.mjpeg", None, 0, 0
    with file.open("wb") as written:
        while (moment := played.moment(frames / _FPS)) is not None:
            if len(truth.played) == nudged_after and not moment.hands:
                setting, still, nudged_after = replace(setting, pose=turned(setting.pose, _NUDGE_DEG)), None, -1
            if moment.hands or moment.pieces != still:
                image = renderer.render(Scene(setting, moment.pieces, moment.hands), frames)
                still = None if moment.hands else moment.pieces
            noisy = cv2.add(image, rng.integers(-1, 2, image.shape, dtype=np.int8), dtype=cv2.CV_8U)
            encoded = cv2.imencode(".jpg", noisy, [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()
            if not moment.hands and len(positions) == len(truth.played):
                positions.append(image)
            shown_s = 1 / _FPS if frames else looks_s
            if len(truth.played) == paused_after and not paused and not moment.hands:
                shown_s, paused = _PAUSE_S, len(truth.played) + len(played.rolls)
            written.write(encoded * round(CHROMIUMS_FPS * shown_s))
            frames += 1
        written.write(encoded * (CHROMIUMS_FPS * _ENDS_S))
    return TableFilm(
        options,
        file,
        tuple(positions),
        frames / _FPS + looks_s + _PAUSE_S,
        len(truth.played) + len(played.rolls),
        truth.turns,
        truth.played[-1].after,
        sum(event.kind is ActionKind.VIOLATION for event in truth.events),
        paused,
    )


def _tilted(setting: Setting, tilt_deg: float) -> Pose:
    """The nearest pose at this tilt that shows all of the board and its markers."""
    poses = (looking_at(one, tilt_deg) for one in growing_distances(300.0, 1.03, 100))
    return first_fitting(setting.camera, extent_mm(setting.layout), _ROOM_PX, poses)


def film_of_mishaps(options: GameOptions, folder: Path, *, shown_s: float = 12.0, seed: int = 5) -> TableFilm:
    """Film a set-up while the camera looks away, the lamp goes out and the lens is changed; then a turn is played."""
    game = load(options.game)
    layout = with_rules(default_layout(game.name), game, options.rules)
    rng, tilted = np.random.default_rng([seed, 11]), looking_at(640.0, 28.0)
    usual = replace(standard_setting(lens(_SIZE), game.name, layout), pose=tilted)
    players = Players(game, layout, options.habits, rng, options.rules, options.choose, options.choose_roll)
    zoom = np.array([[_ZOOM, 1, 1], [1, _ZOOM, 1], [1, 1, 1]])
    zoomed = replace(usual, camera=replace(usual.camera, matrix=usual.camera.matrix * zoom))
    away = replace(usual, pose=turned(usual.pose, (0.0, 40.0, 0.0)))
    dark = replace(usual, sensor=replace(usual.sensor, exposure=_DARK))
    renderer, file = Renderer(seed), folder / "mishaps.mjpeg"
    with file.open("wb") as written:
        for number, setting in enumerate((usual, away, usual, dark, zoomed, zoomed)):
            if number == _MISHAPS:
                players.perform(players.turn())
            image = renderer.render(Scene(setting, tuple(players.standing.values())), number)
            encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()
            written.write(encoded * round(CHROMIUMS_FPS * shown_s))
        written.write(encoded * (CHROMIUMS_FPS * _ENDS_S))
    looks = game.table.appearance(players.state)
    return TableFilm(options, file, (), shown_s * (_MISHAPS + 1), 1, (), looks, 0, 0)


_PHOTO_SIZES = ((4, 3), (3, 4), (16, 9))
"""Width and height of photos, in parts of their sides."""
_PHOTO_PX, _SHEETS_PX = 1280, 1920
"""Their longer side; the page sends no larger ones, and a sheet's cells are small."""
PHOTO_FOCAL_MM = 26
_TILTS_DEG = (4.0, 28.0)


def turned(pose: Pose, by_deg: tuple[float, float, float]) -> Pose:
    """The pose of a camera that was turned about its own axes: right, down and forward."""
    turn = Pose.from_vectors(np.radians(by_deg), np.zeros(3)).rotation
    return Pose(turn @ pose.rotation, turn @ pose.translation)


class PhotographedGame:
    """A game of which a phone takes photos, each by hand from another place, side and distance, upright or not."""

    def __init__(self, options: GameOptions, seed: int = 5) -> None:
        self.game = load(options.game)
        self._layout = with_rules(default_layout(self.game.name), self.game, options.rules)
        self._players = Players(
            self.game,
            self._layout,
            options.habits,
            np.random.default_rng([seed, 11]),
            options.rules,
            options.choose,
            options.choose_roll,
        )
        self._setting = standard_setting(lens(), self.game.name, self._layout)
        self._rng, self._renderer, self._taken = np.random.default_rng([seed, 72]), Renderer(seed), 0

    @property
    def looks(self) -> Mapping[str, str]:
        """What the table shows."""
        return self.game.table.appearance(self._players.state)

    def steps(self) -> Iterator[Action]:
        """Yield each roll and turn once the table shows it; those without carries do not show."""
        while not self._players.is_over:
            action = self._players.roll() if self._players.awaits_roll else self._players.turn()
            self._players.perform(action)
            yield action

    def photo(self, pan_deg: float = 0.0, **sensor: Any) -> bytes:
        """Take a photo; a ``pan_deg`` away from the table, or something in the ``sensor``, spoils it."""
        rng, extent = self._rng, extent_mm(self._layout)
        sides = np.array(_PHOTO_SIZES[int(rng.choice(len(_PHOTO_SIZES), p=(0.5, 0.3, 0.2)))])
        width, height = (sides * (_SHEETS_PX if self.game.has_sheets else _PHOTO_PX) // max(sides)).tolist()
        focal_px = PHOTO_FOCAL_MM / FILM_DIAGONAL_MM * np.hypot(width, height)
        view_deg = 2 * float(np.degrees(np.arctan(width / 2 / focal_px)))
        camera = lens((width, height), view_deg, (0.02, -0.05, 0, 0, 0))
        x, y, z = (float(one) for one in (extent.min(axis=0) + extent.max(axis=0)) / 2 + (*rng.uniform(-20, 20, 2), 0))
        tilt, azimuth, roll = (float(rng.uniform(*ends)) for ends in (_TILTS_DEG, (-180, 180), (-20, 20)))
        distances = growing_distances(300.0 * float(rng.uniform(1, 1.3)), 1.03, 100)
        poses = (looking_at(one, tilt, azimuth, roll, (x, y, z)) for one in distances)
        setting = replace(
            self._setting,
            camera=camera,
            pose=turned(first_fitting(camera, extent, _ROOM_PX, poses), (0.0, pan_deg, 0.0)),
            sensor=replace(self._setting.sensor, **sensor),
        )
        self._taken += 1
        picture = self._renderer.render(Scene(setting, tuple(self._players.standing.values())), self._taken)
        return telling(cv2.imencode(".jpg", picture)[1].tobytes(), PHOTO_FOCAL_MM)


@contextmanager
def browser_filming(film: TableFilm) -> Iterator[Any]:
    """A browser whose camera shows the film from its beginning whenever it is switched on."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    sync_api.expect.set_options(timeout=ANSWER_S * 1000)
    arguments = ["--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={film.file}"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield launched
        launched.close()


class Phones:
    """Phones, each in a browser context of its own; an error in a page's scripts fails the test at the end."""

    def __init__(self, browser: Any, stack: ExitStack) -> None:
        self._browser, self._stack = browser, stack
        self.complaints: list[str] = []

    def new(self, *, may_film: bool = True, **device: Any) -> Any:
        """A page of another phone."""
        context = self._stack.enter_context(self._browser.new_context(**{"locale": "en-GB", **device}))
        context.set_default_timeout(ANSWER_S * 1000)
        if may_film:
            context.grant_permissions(["camera"])
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page


@contextmanager
def phones_of(browser: Any) -> Iterator[Phones]:
    """Phones inside the context, by a browser."""
    with ExitStack() as stack:
        made = Phones(browser, stack)
        yield made
        assert made.complaints == []


def pair(page: Any, code: str, name: str) -> None:
    """Pair a phone on the page for that."""
    page.get_by_label("Code", exact=True).fill(code)
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Pair").click()


def open_despite_the_warning(page: Any, address: str) -> None:
    """Open a page whose certificate no authority signed, as a person does."""
    with pytest.raises(sync_api.Error, match="ERR_CERT_AUTHORITY_INVALID"):
        page.goto(address)
    page.locator("#details-button").click()
    page.locator("#proceed-link").click()
    page.wait_for_url(address)


class Refereed:
    """A referee in a process of its own, whose camera is a phone; ``plain`` and ``encrypted`` are its page."""

    def __init__(self, options: GameOptions, folder: Path, *more: str) -> None:
        port, self._game = free_port(), load(options.game)
        self.journal = folder / "games" / "evening.sqlite"
        self.journal.parent.mkdir()
        self.plain, self.encrypted = f"http://127.0.0.1:{port}", f"https://127.0.0.1:{port + 443}"
        self._said = (folder / "said.txt").open("w", encoding="utf-8")
        own = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "XDG_"))}
        rules = (f"--option={name}={value}" for name, value in options.rules.items())
        told = ("--game", options.game, *rules, "--camera", "phone")
        page = ("--page-address", "127.0.0.1", "--page-port", str(port))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app", "watch", *told, *page, "--journal", str(self.journal), *more],
            cwd=folder,
            env={**own, "HOME": str(folder), "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=subprocess.STDOUT,
        )
        self.camera_code = self.play_code = self.own_code = ""

    @property
    def said(self) -> str:
        """What it printed so far."""
        return Path(self._said.name).read_text(encoding="utf-8")

    def seen(self) -> tuple[int, Mapping[str, str]]:
        """How many rolls and turns it accepted, and the looks that it believes in since."""
        with read_journal(self.journal) as journal:
            folded = fold(self._game, journal.events(journal.latest_game()))
        return len(folded.steps), self._game.table.appearance(folded.states[0]) if folded.states else {}

    def wait_for(self, steps: int, within_s: float = 3 * ANSWER_S) -> tuple[int, Mapping[str, str]]:
        """Wait until so many rolls and turns were accepted, and return what it has seen."""
        deadline_s = time.monotonic() + within_s
        while self.seen()[0] < steps and time.monotonic() < deadline_s:
            time.sleep(0.2)
        return self.seen()

    def events(self) -> list[Event]:
        """What happened in the game."""
        with read_journal(self.journal) as journal:
            return [event for _, event in journal.events(journal.latest_game())]

    def wait_for_codes(self) -> None:
        """Wait until its page is open, and read the codes that pair a device."""
        codes = self.journal.with_name(f"{self.journal.name}.page-codes")
        deadline_s = time.monotonic() + 3 * ANSWER_S
        while not codes.exists() and time.monotonic() < deadline_s and self._process.poll() is None:
            time.sleep(0.1)
        assert codes.exists(), self.said
        found = re.findall(r"\d{4} \d{4}", codes.read_text(encoding="utf-8"))
        self.camera_code, self.play_code, self.own_code = found

    def close(self) -> None:
        """Stop it."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(ANSWER_S)
        self._said.close()


@contextmanager
def refereed(options: GameOptions, folder: Path, *more: str) -> Iterator[Refereed]:
    """Referee a game inside the context."""
    running = Refereed(options, folder, *more)
    try:
        running.wait_for_codes()
        yield running
    finally:
        running.close()


_SENTENCES = """(told) => {
  window.heard = new Set();
  const hear = () => heard.add(document.querySelector(told)?.textContent ?? "");
  new MutationObserver(hear).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""
"""Collects every sentence that a part of a page shows."""


class Typist:
    """Another phone, on which a player types the turns about which the referee asks."""

    def __init__(self, referee: Refereed, phones: Phones) -> None:
        self._page = phones.new()
        self._page.goto(f"{referee.plain}/pair")
        pair(self._page, referee.play_code, "Clara")
        self._page.wait_for_selector("#next")
        self._page.goto(f"{referee.plain}/enter")

    def type(self, turn: str) -> None:
        """Type a turn in its notation."""
        self._page.get_by_label("Turn", exact=True).fill(turn)
        self._page.get_by_role("button", name="Play it").click()


class Evening:
    """A phone that films a game, through the warning of its certificate, and another one that shows the verdicts."""

    def __init__(self, referee: Refereed, phones: Phones) -> None:
        self.referee = referee
        self.camera = phones.new(viewport={"width": 390, "height": 844})
        open_despite_the_warning(self.camera, f"{referee.encrypted}/pair")
        pair(self.camera, referee.camera_code, "Ann's phone")
        self.camera.wait_for_url("**/camera")
        self.camera.evaluate(_SENTENCES, "#sees")
        self.player = phones.new()
        self.player.goto(f"{referee.plain}/pair")
        pair(self.player, referee.play_code, "Ben")
        self.player.wait_for_selector("#next")
        self.player.evaluate(_SENTENCES, "#verdict .sentence")
        self._typist = Typist(referee, phones)
        self.asked = 0

    def begin(self) -> None:
        """Press the button."""
        self.camera.get_by_role("button", name="Start filming").click()
        expect(self.camera.get_by_text("The referee watches")).to_be_visible()
        expect(self.camera.locator("#sees")).to_have_text("The referee sees the table.")

    def wait_for(self, film: TableFilm, steps: int) -> tuple[int, Mapping[str, str]]:
        """Wait as the referee's ``wait_for``; where it asks about a turn, a player types that on another phone."""
        deadline_s = time.monotonic() + film.length_s
        while self.referee.seen()[0] < steps and time.monotonic() < deadline_s:
            if self.referee.said.count("  ambiguous  ") > self.asked:
                self.asked += 1
                played = [event.kind for event in self.referee.events()].count(EventKind.TURN)
                self._typist.type(film.turns[played])
            self.player.wait_for_timeout(200)
        return self.referee.seen()

    @staticmethod
    def told(phone: Any) -> list[str]:
        """The sentences that the camera's phone, or the player's, has shown: what the referee sees, or verdicts."""
        return list(filter(None, phone.evaluate("[...heard]")))

    def call(self) -> None:
        """Take a call, during which nothing is sent."""
        ends_s = time.monotonic() + _CALL_S
        self.camera.context.set_offline(True)
        expect(self.player.locator("body")).to_contain_text("No picture comes from a phone")
        self.camera.wait_for_timeout(1000 * (ends_s - time.monotonic()))
        self.camera.context.set_offline(False)
