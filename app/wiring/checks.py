"""The doctor's checks of what is wired: the maps, the board, a WLED, the sensors."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from typing import Any

from app.sensing.health import health_file, load_health, sensors_out
from app.settings.configuration import Configuration
from app.wiring.devices import LinkedController, find_mismatches, linked_controller
from app.wiring.plan import WiringPlan, plan_and_problems
from common.findings import Finding
from common.json_files import parse_json
from common.phrases import Phrase, joined, plain_reason
from engine.errors import EngineError
from engine.registry import load
from firmware_bridge.connection.connection import ConnectionStatistics
from firmware_bridge.errors import BridgeError, PortTakenError
from firmware_bridge.install.check import equipment
from firmware_bridge.protocol.messages import ResetCause, Welcome
from referee.errors import ConfigError

LISTEN_S = 1.5
"""Seconds to listen to a board, enough to measure a few round trips."""

SLOW_ROUND_TRIP_S = 0.1
"""Round trip to the board, in seconds, above which a person is told to look at the cable."""
_ASK_TIMEOUT_S = 3.0
"""How long to wait for a WLED's answer, in seconds; in a usual network it comes within a tenth."""
_HTTP_PORT = 80
"""The port of a WLED's page."""

Connect = Callable[[WiringPlan], AbstractContextManager[LinkedController]]
AskWled = Callable[[str], dict[str, Any]]


def connect(plan: WiringPlan) -> AbstractContextManager[LinkedController]:
    """Connect the plan's board silently: a failure becomes a finding."""
    return linked_controller(plan, lambda _: None)


def ask_wled(host: str) -> dict[str, Any]:
    """Ask a WLED for its description, as its web page does; raises OSError or ValueError."""
    try:
        with closing(http.client.HTTPConnection(host, _HTTP_PORT, timeout=_ASK_TIMEOUT_S)) as connection:
            connection.request("GET", "/json/info")
            answer = parse_json(connection.getresponse().read(65536))
    except http.client.InvalidURL as error:
        raise ValueError(str(error)) from error
    except http.client.HTTPException as error:
        raise ValueError(f"it answers, but not as a web server: {error!r}") from error
    if not isinstance(answer, dict):
        raise ValueError("it answers, but not as a WLED")
    return answer


def check_wires(configuration: Configuration, connect: Connect, ask_wled: AskWled) -> Iterator[Finding]:
    """Yield findings about the maps, the board, WLED, and sensors that are switched off."""
    settings = configuration.settings
    try:
        places = tuple(load(settings.game.name).places)
    except EngineError:
        # an unknown game was already reported with the settings
        places = ()
    plan, problems = plan_and_problems(settings, configuration.sources, places)
    for problem in problems:
        yield Finding.fault("wires", problem, "docs/hardware.md explains it")
    if plan.light_map is not None:
        light_map = plan.light_map
        squares = Phrase(
            "{places} squares, {status} for the status light", len(light_map.places), len(light_map.status)
        )
        yield Finding.ok(
            "light map",
            Phrase("{light_map}: {lights} lights; {squares}", settings.lights.light_map, light_map.lights, squares),
        )
    if plan.sensor_map is not None:
        sensor_map = plan.sensor_map
        squares = Phrase("{places} squares, {switches} switches", len(sensor_map.places), sensor_map.switches)
        yield Finding.ok("sensor map", joined((settings.sensors.map, squares), ": "))
    if plan.needs_controller:
        yield from check_board(plan, connect)
    if "wled-network" in plan.drivers and plan.wled_host:
        yield check_wled_network(plan, ask_wled)
    yield from check_sensors(configuration)


def check_board(plan: WiringPlan, connect: Connect) -> Iterator[Finding]:
    """Yield findings about the board: whether it answers, what it is, whether it fits the maps, and its link."""
    try:
        with connect(plan) as linked:
            welcome = linked.welcome()
            port = linked.connection.port
            linked.connection.wait_for(lambda: linked.connection.welcome is None, LISTEN_S)
            statistics = linked.connection.statistics
    except PortTakenError as error:
        yield Finding.note("board", str(error), "if the running referee uses it, all is well")
        return
    except BridgeError as error:
        yield Finding.fault("board", str(error), "docs/troubleshooting.md says more; the game goes on without it")
        return
    yield Finding.ok("board", Phrase("{port}: {description}", port or Phrase("a board"), _describe(welcome)))
    for mismatch in find_mismatches(welcome, plan):
        yield Finding.fault("board", mismatch, "docs/microcontroller.md explains it")
    if welcome.reset_cause == ResetCause.WATCHDOG:
        remedy = Phrase(
            "once is harmless; if it repeats, run `./run hardware firmware check` and check the board's power"
        )
        yield Finding.note("board", "its watchdog restarted it last: it had hung", remedy)
    yield link_quality(statistics)


def check_wled_network(plan: WiringPlan, ask_wled: AskWled) -> Finding:
    """Find whether the WLED answers, and has as many lights as the map needs."""
    remedy = Phrase("is it switched on and in this network? Its app and the router's list of devices show its address")
    try:
        info = ask_wled(plan.wled_host)
    except (OSError, ValueError) as error:
        return Finding.fault(
            "WLED", Phrase("{wled_host} does not answer: {plain_reason}", plan.wled_host, plain_reason(error)), remedy
        )
    leds = info.get("leds")
    count = leds.get("count") if isinstance(leds, dict) else None
    what = Phrase(
        "{wled_host}: WLED {version}, {lights} lights",
        plan.wled_host,
        info.get("ver", Phrase("of some version")),
        count or Phrase("some"),
    )
    if isinstance(count, int) and plan.light_map is not None and count < plan.light_map.shortest_strip:
        (problem,) = plan.light_map.problems(strip_lights=count)
        return Finding.fault(
            "WLED",
            Phrase(
                "{wled_host}: WLED {version}, {lights} lights; {problem}",
                plan.wled_host,
                info.get("ver", Phrase("of some version")),
                count or Phrase("some"),
                problem,
            ),
            "set the number of lights in WLED's LED preferences",
        )
    return Finding.ok("WLED", what)


def check_sensors(configuration: Configuration) -> Iterator[Finding]:
    """Yield a finding for each sensor that is switched off."""
    try:
        health = load_health(health_file(configuration.settings.journal.path))
    except ConfigError as error:
        yield Finding.fault("sensors", str(error), "")
        return
    for place, why in sensors_out(health).items():
        remedy = Phrase(
            "look under the square; it is used again after a few correct changes, or after `./run "
            "hardware sensors put-back`"
        )
        yield Finding.note("sensors", Phrase("the sensor under {place} is switched off: it {why}", place, why), remedy)


def _describe(welcome: Welcome) -> str:
    version = ".".join(map(str, welcome.firmware))
    return Phrase(
        "{board}, firmware {version}, {equipment}", welcome.board or Phrase("unnamed"), version, equipment(welcome)
    )


def link_quality(statistics: ConnectionStatistics) -> Finding:
    """Rate a link by its round-trip time, and its lost and damaged packets."""
    link = statistics.link
    bad = link.dropped.total
    info = (
        Phrase(
            "no round trip measured; {packets} packets received, {bad} damaged, {resent} resent",
            link.packets,
            bad,
            link.again,
        )
        if link.round_trip_s is None
        else Phrase(
            "{round_trip} ms there and back; {packets} packets received, {bad} damaged, {resent} resent",
            f"{link.round_trip_s * 1000:.1f}",
            link.packets,
            bad,
            link.again,
        )
    )
    if bad > 1 or link.again or (link.round_trip_s or 0.0) > SLOW_ROUND_TRIP_S:
        return Finding.note("link", info, "use a shorter or better cable, away from motors; nothing is lost meanwhile")
    return Finding.ok("link", info)
