"""``./run watch`` and ``./run demo``: referee a real table, and a virtual one."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli import context as cli
from app.cli.group import ExampleCommand
from app.cli.page import maintenance
from app.settings.conversions import opponent_settings, table_options, time_control
from app.settings.sources import PASSWORD_VARIABLE
from common.phrases import Phrase
from engine import registry
from engine.values import OptionValue

if TYPE_CHECKING:
    from frontends.mqtt.options import MqttOptions
    from frontends.mqtt.settings import MqttSection

_EYES = click.Choice(["camera", "sensors", "both"])


@click.command(cls=ExampleCommand)
@cli.setting_option(
    "--camera",
    setting="camera.source",
    help="A camera: 0, usb:ID, pi, phone, http://ADDRESS, /dev/video0, or a folder that grows (folder:PATH).",
)
@click.option(
    "--frames",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of pictures, in name order.",
)
@click.option("--video", type=cli.READABLE_FILE, help="A video file.")
@click.option("--stills", is_flag=True, help="Every picture shows a table at rest after a turn.")
@cli.input_options
@cli.setting_option(
    "--game", setting="game.name", type=cli.GAME, help="The game's name.  [default: as in the settings]"
)
@cli.rule_option
@cli.journal_option
@click.option(
    "--resume/--new", default=True, show_default=True, help="Go on with the journal's last game if it is open."
)
@click.option(
    "--debug-image",
    "debug_images",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write pictures with what was located into this folder.",
)
@cli.setting_option(
    "--anywhere",
    setting="table.anywhere",
    is_flag=True,
    default=None,
    help="Accept other starting places than the game suggests.",
)
@cli.setting_option(
    "--turn-end",
    setting="turn.end",
    type=click.Choice(["button", "touch", "rest"]),
    help="When a turn counts as ended.",
)
@cli.setting_option(
    "--rest-s", setting="turn.rest_s", type=cli.Number(0.2, 60), help="How long the table must rest, in seconds."
)
@cli.setting_option(
    "--eyes",
    setting="sensors.eyes",
    type=_EYES,
    help="Look through the camera, sensors, or both.",
)
@cli.clock_option
@cli.opponent_options
@click.option("--lines", is_flag=True, help="Print one line per verdict, even on a terminal.")
@cli.page_options
@click.pass_context
def watch_command(
    running: click.Context,
    /,
    frames: Path | None,
    video: Path | None,
    stills: bool,
    options: tuple[str, ...],
    resume: bool,
    debug_images: Path | None,
    lines: bool,
    page: bool | None,
    page_port: int | None,
    page_address: str | None,
    **_given_settings: object,
) -> int:
    """Referee a real table, a video or pictures.

    Each verdict comes with its reason and is kept in the journal. Stop with Ctrl-C; the same command goes on with
    the game later. The camera is measured from the table itself, unless --calibration names what
    `./run hardware calibrate --out FILE` wrote. Without --looks the pieces' colours are learned from the set-up.
    `./run table correct` puts the game right while this one runs.

    Examples:
      ./run watch --camera 0 --looks looks.json
      ./run watch --frames pictures --stills --journal game.sqlite
      ./run watch --video game.mp4 --new --option side_by_side=false
      ./run watch --camera folder:incoming
      ./run watch --eyes sensors
      ./run watch --camera 0 --page
    """
    from app.runtime.watch import WatchOptions, watch
    from app.settings.table_layout import settings_for
    from app.wiring.plan import Inputs, playable_plan

    given = cli.given_settings(running)
    if sum(source is not None for source in (given["camera.source"], frames, video)) > 1:
        raise click.UsageError("--camera, --frames and --video each name the pictures; give one of them.")
    is_recorded = frames is not None or video is not None
    if is_recorded:
        if given["sensors.eyes"] not in (None, Inputs.CAMERA):
            raise click.UsageError("the switches say nothing of pictures that were recorded; leave --eyes out.")
        given["sensors.eyes"] = Inputs.CAMERA.value
    configuration, language = cli.context_of(running).configuration(given), cli.context_of(running).language
    settings, say = configuration.settings, cli.context_of(running).translate
    if given["camera.source"] is not None and settings.sensors.eyes == Inputs.SENSORS.value:
        raise click.UsageError("--camera names a camera, but the eyes are sensors alone; add --eyes both or camera.")
    own = registry.load(settings.game.name)
    # Bad options are an error now, not when their game is begun.
    rules = table_options(own, {**settings.game.options, **cli.read_pairs(options)})
    settings = settings.changed({"game.options": rules})
    settings.journal.path.parent.mkdir(parents=True, exist_ok=True)
    shown = cli.chosen_page(page, page_port, page_address, settings.page, opens_itself=True)

    def for_game(name: str, rules: Mapping[str, OptionValue]) -> WatchOptions:
        game = registry.load(name)
        chosen = settings_for(settings, game, table_options(game, rules))
        wiring, wrong = playable_plan(chosen, configuration.sources, game.places)
        drivers, notices = chosen.lights.drivers, tuple(wrong)
        if wrong:
            drivers = tuple(dict.fromkeys(("terminal", *drivers)))
            notices += (Phrase("Until this is fixed, the game goes on with the camera and the terminal."),)
        if is_recorded and "lights.drivers" not in configuration.sources:
            # Nobody sits at a recorded table, and lights on the terminal would only repeat the verdicts.
            drivers = ()
        chosen = chosen.changed({"lights.drivers": drivers})
        return WatchOptions(
            chosen,
            frames=frames,
            video=video,
            stills=stills,
            wiring=wiring,
            resume=resume,
            debug_images=debug_images,
            full_screen=not lines,
            notices=notices,
            page=shown,
            # A recording isn't a table with players.
            mqtt=None if is_recorded else _mqtt(settings.mqtt, language),
            maintenance=maintenance(replace(configuration, settings=chosen)),
            say=say,
            for_game=None if is_recorded else for_game,
        )

    return watch(for_game(own.name, {}), cli.output())


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="[GAME]", type=cli.GAME, default="deblockle")
@cli.setting_option(
    "--seed",
    setting="demo.seed",
    type=cli.WholeNumber(min=0),
    help="Draws the game: the same seed plays the same game.  [default: 13]",
)
@cli.setting_option(
    "--turns", setting="demo.turns", type=cli.WholeNumber(1, 10000), help="Stop after this many turns.  [default: 16]"
)
@click.option("--whole", is_flag=True, help="Play to the end, however long it takes.")
@click.option("--random", "is_random", is_flag=True, help="Play any legal turns, instead of sensible ones.")
@cli.setting_option("--fast", setting="demo.fast", is_flag=True, default=None, help="Play as fast as the computer can.")
@click.option("--journal", type=cli.JOURNAL_FILE, help="Keep the journal in this file.")
@click.option(
    "--lights",
    type=click.Choice(["terminal", "none", "pico"]),
    default="terminal",
    show_default=True,
    help="Where the lights show. pico: on a virtual microcontroller, whose button works too.",
)
@click.option(
    "--eyes",
    type=_EYES,
    default="camera",
    show_default=True,
    help="Look through the camera, switches under the squares (on that microcontroller), or both.",
)
@cli.clock_option
@cli.opponent_options
@click.option("--mqtt", "tells_broker", is_flag=True, help="Connect to the broker under [mqtt].")
@cli.page_options
@click.pass_context
def demo_command(
    running: click.Context,
    /,
    game_name: str,
    whole: bool,
    is_random: bool,
    journal: Path | None,
    lights: str,
    eyes: str,
    tells_broker: bool,
    page: bool | None,
    page_port: int | None,
    page_address: str | None,
    **_given_settings: object,
) -> int:
    """Watch the referee at work on a virtual table.

    A short game of Deblockle takes about a minute; other games stop after 16 turns. The players make mistakes now and
    then. The same seed plays the same game. Type h and Enter for a hint.

    Examples:
      ./run demo
      ./run demo diaballik
      ./run demo blockade --whole --fast
      ./run demo --page
      ./run demo --seed 3 --turns 20 --random
      ./run demo --fast --journal demo.sqlite
      ./run demo --lights pico --eyes both
    """
    from app.demo.run import run_demo
    from app.demo.table import GAMES, DemoOptions
    from app.wiring.plan import Inputs

    given = cli.given_settings(running)
    configuration, language = cli.context_of(running).configuration(given), cli.context_of(running).language
    configured = configuration.settings
    settings = configured.demo
    if whole and given["demo.turns"]:
        raise click.UsageError("--whole plays to the end, --turns stops before it; give one of them.")
    game = registry.load(game_name).name
    if game not in GAMES:
        raise click.BadParameter(f"nobody plays {game} on the virtual table yet; there are {', '.join(GAMES)}")
    if tells_broker and not (configured.mqtt.address or configured.mqtt.hall):
        raise click.UsageError("--mqtt needs a broker; set address or hall under [mqtt].")
    options = DemoOptions(
        game=game,
        seed=settings.seed,
        turns=_WHOLE if whole else settings.turns,
        random=is_random,
        fast=settings.fast,
        journal=journal,
        lights=lights,
        inputs=Inputs(eyes),
        hints=configured.hints,
        clock=time_control(configured.clock),
        # The settings name a side of the game at the real table.
        opponent=opponent_settings(configured.opponent) if given["opponent.player"] else None,
        keys=sys.stdin if sys.stdin.isatty() else None,
        page=cli.chosen_page(page, page_port, page_address, configured.page),
        mqtt=_mqtt(configured.mqtt, language) if tells_broker else None,
        maintenance=maintenance(configuration),
        say=cli.context_of(running).translate,
    )
    return run_demo(options, cli.output())


_WHOLE = 10_000
"""More turns than any game has."""


def _mqtt(section: MqttSection, language: str) -> MqttOptions | None:
    """Return the options of MQTT on this machine, ``None`` without a broker."""
    from frontends.mqtt.options import mqtt_options

    return mqtt_options(section, socket.gethostname(), os.environ.get(PASSWORD_VARIABLE), language)
