"""``./run hardware sensors``: mapping switches to squares, and showing their state."""

import enum
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from app.mapping.dialogue import (
    UNFINISHED,
    AssignmentBySquare,
    AssignmentBySwitch,
    assign_switches,
    line_printer,
    saved_map_sentence,
)
from app.sensing.health import SensorSnapshot, forget_sensors, health_file, load_health, sensors_out
from app.settings.configuration import Configuration
from app.settings.table_layout import grid_of
from app.wiring.devices import Switches, open_switches
from app.wiring.plan import SensorMap, SwitchReport, by_place, load_sensor_map, save_sensor_map, wiring_plan
from common.grid import PlaceGrid, column_and_row
from common.phrases import Phrase
from engine.registry import load
from frontends.board_text import draws_ascii
from frontends.terminal.keyboard import PolledLines
from referee.errors import ConfigError

_LISTEN_S = 0.1
"""Seconds between two looks at what a person typed. Longer: a typed line is answered later."""
_FIRST_REPORT_S = 5.0
"""Seconds after which doubtful switches are shown as such. Longer: a board whose contacts chatter answers later."""


class _SquareState(enum.StrEnum):
    """The state of a square's sensor."""

    OCCUPIED = "occupied"
    EMPTY = "empty"
    DOUBTFUL = "doubtful"
    SWITCHED_OFF = "switched off"
    NO_SWITCH = "no switch"


_STYLES = dict(zip(_SquareState, ("bold", "dim", "magenta", "red", ""), strict=True))
_MARKS = dict(zip(_SquareState, "●·?× ", strict=True))
_PLAIN_MARKS = dict(zip(_SquareState, "o.?x ", strict=True))


def map_sensors(
    configuration: Configuration, out: Path, console: Console, lines: Iterable[str], *, by_switch: bool = False
) -> int:
    """Go through the squares and write the sensor map to ``out``; 0 when one was written, 1 when nothing was found or
    the input ended before.

    With ``by_switch``, a person names the square of each switch that closes, instead of the reverse.

    Sensors of the mapped squares that were switched off are used again. ``lines`` are what a person types. Raises
    ConfigError where no switches are set, OSError for a record of sensors that can't be written, and the errors of the
    board.
    """
    say = line_printer(console)
    game = load(configuration.settings.game.name)
    plan = wiring_plan(configuration.settings, configuration.sources, game.places, making="sensor map")
    with open_switches(plan, say) as switches:
        assignment = (AssignmentBySwitch if by_switch else AssignmentBySquare)(switches.count, game.places)
        is_whole = assign_switches(
            assignment, switches.read, PolledLines(lines).poll, lambda: switches.wait(_LISTEN_S), say
        )
        count, checksum = switches.count, switches.pin_map_crc
    if not is_whole:
        say(UNFINISHED)
        return 1
    if not assignment.found:
        say(Phrase("No switch is under any square; nothing was written."))
        return 1
    save_sensor_map(SensorMap(assignment.found, count, checksum), out)
    say(assignment.summary())
    named, setting = configuration.settings.sensors.map, f'map = "{out}" under [sensors]'
    say(saved_map_sentence(Phrase("sensor map"), out, named, setting))
    # What is known of a square's sensor may be about another switch.
    used_again = forget_sensors(configuration.settings.journal.path, assignment.found)
    if used_again:
        say(Phrase("These sensors were switched off, and are used again: {names}.", ", ".join(used_again)))
    return 0


def show_sensors(configuration: Configuration, console: Console, *, once: bool) -> int:
    """Show which squares are occupied, once or until a person stops it; 0 when every sensor could be read.

    Raises ConfigError where no switches or no map are set, and the errors of the board.
    """
    settings = configuration.settings
    game = load(settings.game.name)
    plan = wiring_plan(settings, configuration.sources, game.places, making="sensor map")
    if settings.sensors.map is None:
        raise ConfigError("sensors.map is not set; `./run hardware sensors map` makes a map")
    sensor_map = load_sensor_map(settings.sensors.map)
    plan = replace(plan, sensor_map=sensor_map)
    out = sensors_out(load_health(health_file(settings.journal.path)))
    grid = grid_of(game.places)
    plain = draws_ascii(console)
    say = line_printer(console)
    with open_switches(plan, say) as switches:
        report = _first_report(switches)
        snapshot = None if report is None else by_place(report, sensor_map)
        console.print(draw_sensors(snapshot, grid, out, plain=plain))
        try:
            while not once:
                switches.wait(_LISTEN_S)
                report = switches.read()
                now = None if report is None else by_place(report, sensor_map)
                if _values(now) != _values(snapshot):
                    console.print(draw_sensors(now, grid, out, plain=plain))
                    snapshot = now
        except KeyboardInterrupt:
            return 0
    for sentence in sensor_sentences(snapshot, sensor_map, out):
        say(sentence)
    return 1 if snapshot is None or snapshot.doubtful or out else 0


def _values(snapshot: SensorSnapshot | None) -> tuple[object, ...]:
    """Return what is drawn of a snapshot."""
    return () if snapshot is None else (snapshot.occupied, snapshot.doubtful)


def sensor_sentences(snapshot: SensorSnapshot | None, sensor_map: SensorMap, out: Mapping[str, str]) -> Iterator[str]:
    """Describe the state of the sensors in sentences."""
    if snapshot is None:
        yield "No sensor reports anything."
        return
    occupied = [place for place, closed in snapshot.occupied.items() if closed]
    yield f"{len(occupied)} of {len(snapshot.occupied)} squares are occupied: {', '.join(occupied) or 'none'}."
    if snapshot.doubtful:
        doubtful = ", ".join(sorted(snapshot.doubtful))
        yield f"These can't be read at the moment (a ghost in the matrix, or a contact that chatters): {doubtful}."
    missing = [place for place in sensor_map.places if place not in snapshot.occupied]
    if missing:
        yield f"These have a switch in the map that is not there: {', '.join(missing)}."
    for place, why in out.items():
        yield f"The sensor under {place} is switched off: it {why}."


def draw_sensors(snapshot: SensorSnapshot | None, grid: PlaceGrid, out: Mapping[str, str], *, plain: bool) -> Text:
    """Draw which squares are occupied; ``out`` maps squares with a switched-off sensor to the reason."""
    marks = _PLAIN_MARKS if plain else _MARKS
    text = Text()
    for row in grid.rows:
        text.append(f"{column_and_row(row[0])[1]:>3} " if row else "")
        for place in row:
            state = _state(snapshot, place, out)
            text.append(f" {marks[state]}", style=_STYLES[state])
        text.append("\n")
    columns = [column_and_row(place)[0] for place in grid.rows[-1]]
    text.append("    " + "".join(f" {column}" for column in columns))
    named = [f"{marks[state]} {state}" for state in _SquareState if state is not _SquareState.NO_SWITCH]
    text.append("\n" + "   ".join(named), style="dim")
    return text


def _state(snapshot: SensorSnapshot | None, place: str, out: Mapping[str, str]) -> _SquareState:
    if snapshot is None or place not in snapshot.occupied:
        return _SquareState.NO_SWITCH
    if place in out:
        return _SquareState.SWITCHED_OFF
    if place in snapshot.doubtful:
        return _SquareState.DOUBTFUL
    return _SquareState.OCCUPIED if snapshot.occupied[place] else _SquareState.EMPTY


def _first_report(switches: Switches) -> SwitchReport | None:
    """Wait for the first report in which every switch is stable, up to a limit."""
    until_s = time.monotonic() + _FIRST_REPORT_S
    while True:
        report = switches.read()
        if (report is not None and not any(report.doubtful)) or time.monotonic() >= until_s:
            return report
        switches.wait(_LISTEN_S)
