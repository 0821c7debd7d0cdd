"""``./run hardware lights``: mapping a strip of lights, and showing every signal."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from app.mapping.dialogue import (
    READ_TIMEOUT_S,
    UNFINISHED,
    Ask,
    LightAssignment,
    LightFinder,
    assign_lights,
    line_printer,
    one_light_map,
    one_light_signal,
    saved_map_sentence,
)
from app.settings.configuration import Configuration
from app.settings.conversions import light_settings
from app.settings.kept_cameras import camera_of
from app.settings.table_layout import grid_of, layout_for
from app.wiring.devices import LinkedController, answering_controller, strip_sources
from app.wiring.plan import STRIP_DRIVERS, WiringPlan, wiring_plan
from common.grid import PlaceGrid
from common.phrases import Phrase, joined
from engine.registry import load
from hardware.factory import driver_sources
from hardware.lights.light_map import LightMap, write_light_map
from hardware.lights.panel import LivePanel, Panel
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES, Light, Mood, Signal, Sound
from referee.errors import ConfigError
from vision.cameras import Camera, open_camera
from vision.locating.location import locate


def map_lights(
    configuration: Configuration,
    out: Path,
    console: Console,
    ask: Ask,
    *,
    by_camera: bool = False,
    open_camera: Callable[..., AbstractContextManager[Camera]] = open_camera,
) -> int:
    """Go through the lights and write the light map to ``out``; 0 when one was written, 1 when nothing was found or the
    input ended before.

    With ``by_camera``, the camera locates the lights, and a person is only asked about uncertain ones.

    Raises ConfigError where no strip is set, MapFileError, and the errors of the board and the camera.
    """
    say = line_printer(console)
    game = load(configuration.settings.game.name)
    plan = wiring_plan(configuration.settings, configuration.sources, game.places, making="light map")
    if not plan.drivers:
        raise ConfigError(
            "no strip of lights is set; set drivers under [lights] to one of {names}", joined(STRIP_DRIVERS, ", ")
        )
    with ExitStack() as stack:
        linked = stack.enter_context(answering_controller(plan, say)) if "board" in plan.drivers else None
        count = _light_count(plan, linked)
        pin_map_crc = linked.welcome().pin_map_checksum if linked is not None else None
        plan = replace(plan, light_map=one_light_map(count))
        sources = strip_sources(plan)
        if linked is not None:
            linked.controller.use(plan)
            sources += linked.controller.driver_sources()
        panel = stack.enter_context(LivePanel(Panel(sources, time.monotonic, say, say), time.monotonic))
        finder = stack.enter_context(_light_finder(configuration, open_camera)) if by_camera else None
        assignment = LightAssignment(count, game.places)
        is_whole = assign_lights(assignment, lambda number: panel.show(one_light_signal(number)), ask, say, finder)
    if not is_whole:
        say(UNFINISHED)
        return 1
    places, status = assignment.places_of_lights()
    if not places and not status:
        say(Phrase("No light is under any square; nothing was written."))
        return 1
    write_light_map(LightMap(places, status, lights=count, pin_map_crc=pin_map_crc), out)
    say(assignment.summary())
    named, setting = configuration.settings.lights.light_map, f'light_map = "{out}" under [lights]'
    say(saved_map_sentence(Phrase("light map"), out, named, setting))
    return 0


def show_every_light(
    configuration: Configuration, seconds: float, console: Console, wait: Callable[[float], object] = time.sleep
) -> int:
    """Show every role and mood in turn, ``seconds`` each, with an explanation; 0 when every driver showed all of them.

    Raises ConfigError, and the errors of the board.
    """
    say = line_printer(console)
    settings = configuration.settings
    game = load(settings.game.name)
    # lights may be tried before the sensors are mapped
    plan = wiring_plan(settings.changed({"sensors.eyes": "camera"}), configuration.sources, game.places)
    faults: list[str] = []

    def failed(sentence: str) -> None:
        faults.append(sentence)
        say(sentence)

    with ExitStack() as stack:
        sources = strip_sources(plan)
        if "board" in plan.drivers:
            linked = stack.enter_context(answering_controller(plan, failed))
            sources += linked.controller.driver_sources()
        pinned = light_settings(settings.lights, game.places)
        own = replace(pinned, drivers=tuple(name for name in pinned.drivers if name != "terminal"))
        sources += driver_sources(own, PlaceGrid(()), console)
        if not sources:
            # the explanations come with each signal, so the terminal only draws if nothing else does
            sources = driver_sources(pinned, grid_of(tuple(game.places)), console)
        if not sources:
            raise ConfigError(
                "no lights are set; set drivers under [lights] to terminal, gpio, {names}", joined(STRIP_DRIVERS, ", ")
            )
        panel = stack.enter_context(LivePanel(Panel(sources, time.monotonic, failed, say), time.monotonic))
        lit = tuple(plan.light_map.places) if plan.light_map is not None else tuple(game.places)
        for signal in every_signal(lit):
            say(signal.words)
            panel.show(signal)
            wait(seconds)
    say(
        Phrase("That was everything.")
        if not faults
        else Phrase("That was everything; {faults} did not work, see above.", len(faults))
    )
    return 1 if faults else 0


def every_signal(places: tuple[str, ...]) -> Iterator[Signal]:
    """Yield a signal for each role, on all places at once, for each mood and for each sound, with its meaning."""
    for role, style in ROLE_STYLES.items():
        words = f"squares, {role}: {style.colour.name.lower()}, {style.pattern.value} ({style.meaning})"
        yield Signal(Mood.WAITING, tuple(Light.for_role(place, role) for place in places), words=words)
    for mood, style in MOOD_STYLES.items():
        words = f"status light, {mood.value}: {style.colour.name.lower()}, {style.pattern.value} ({style.meaning})"
        yield Signal(mood, words=words)
    for sound in Sound:
        if sound is not Sound.SILENCE:
            yield Signal(Mood.WAITING, sound=sound, words=f"sound: {sound.value}")


def _light_count(plan: WiringPlan, linked: LinkedController | None) -> int:
    if linked is not None:
        count = linked.welcome().lights
        if not count:
            raise ConfigError(
                "the board has no lights; name them in its pin map, then `./run hardware firmware install`"
            )
        return count
    if plan.strip_lights is None:
        raise ConfigError("how many lights does the strip have? Give --lights, or set strip_lights under [lights]")
    return plan.strip_lights


@contextmanager
def _light_finder(
    configuration: Configuration, open_camera: Callable[..., AbstractContextManager[Camera]]
) -> Iterator[LightFinder]:
    """Open the camera and locate the table in its picture; raises VisionError."""
    settings = configuration.settings
    layout = layout_for(settings.game.name, settings.table.layout, settings.table.markers)
    asked = settings.camera
    with open_camera(asked.source, **asked.requested) as camera:
        picture = camera.read(READ_TIMEOUT_S).image
        model = camera_of(settings, [picture], layout)
        pose = locate(picture, model, layout).pose
        yield LightFinder(camera, time.monotonic, model, pose, layout)
