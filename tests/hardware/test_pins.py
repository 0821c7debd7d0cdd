import os
from pathlib import Path

import pytest
from gpiozero.pins import Factory
from gpiozero.pins.mock import MockFactory
from hypothesis import given
from hypothesis import strategies as st

from common.findings import Finding
from common.grid import column_and_row
from hardware.errors import DriverError, PinError
from hardware.pin_map import BUTTON_ROLES, GpioPinMap, parse_pin
from hardware.pins import Computer, probe


def no_pins() -> Factory:
    raise DriverError("this computer has no usable GPIO pins (No module named 'lgpio')")


def by_subject(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.subject: finding for finding in findings}


@pytest.fixture
def pi(tmp_path: Path) -> Path:
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/device-tree/model").write_bytes(b"Raspberry Pi 5 Model B Rev 1.0\0")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/gpiochip0").touch()
    return tmp_path


def around(root: Path, factory: Factory | None, *, lgpio: bool = True, **environment: str) -> Computer:
    return Computer(
        root=root,
        working_directory=root,
        environment=environment,
        has_module=lambda name: lgpio and name == "lgpio",
        open_factory=no_pins if factory is None else lambda: factory,
    )


def test_a_pi_without_problems_has_only_ok_findings(pi: Path, plain_pins: MockFactory) -> None:
    findings = probe([("place c3", 17)], around(pi, plain_pins))
    assert {finding.severity for finding in findings} == {"ok"}
    told = by_subject(findings)
    assert told["computer"].message == "Raspberry Pi 5 Model B Rev 1.0"
    assert told["pins"].message == "MockFactory drives the pins of a Pi 4B"


def test_missing_pins_are_a_note_unless_pins_are_in_use(tmp_path: Path) -> None:
    bare = around(tmp_path, None, lgpio=False)
    assert [(note.subject, note.severity) for note in probe((), bare)] == [("computer", "note")]
    wanted = by_subject(probe([("buzzer", 18)], bare))
    assert wanted["pins"].severity == "fault"
    assert "64-bit Pi with Python 3.11 to 3.13" in wanted["lgpio"].remedy
    assert wanted["computer"].remedy == "use the terminal for lights"


def test_a_pin_that_the_board_lacks_is_named_with_its_use(pi: Path, clock) -> None:
    with MockFactory(revision="0002") as first_model_b:
        findings = probe([("place c3", 26), ("buzzer", 17)], around(pi, first_model_b))
    faults = [finding for finding in findings if finding.severity == "fault"]
    assert [finding.subject for finding in faults] == ["GPIO26"]
    assert faults[0].message.startswith("place c3: ")


def test_a_pin_library_that_was_asked_for_is_mentioned(pi: Path, plain_pins: MockFactory) -> None:
    told = by_subject(probe((), around(pi, plain_pins, GPIOZERO_PIN_FACTORY="mock")))
    assert told["pin library"].message == "GPIOZERO_PIN_FACTORY asks for mock"


@pytest.mark.parametrize(
    ("locked", "subject", "remedy"),
    [("dev/gpiochip0", "rights", "usermod -aG gpio"), (".", "working directory", "a directory you may write to")],
)
def test_missing_rights_are_found(
    pi: Path, plain_pins: MockFactory, monkeypatch: pytest.MonkeyPatch, locked: str, subject: str, remedy: str
) -> None:
    # Root may do everything, so the system's answer is replaced rather than the file's mode.
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != pi / locked and real(path, mode))
    finding = by_subject(probe((), around(pi, plain_pins)))[subject]
    assert finding.severity == "fault"
    assert remedy in finding.remedy


def test_the_probe_runs_on_the_real_computer() -> None:
    subjects = [finding.subject for finding in probe([("buzzer", 18)])]
    assert subjects[0] == "computer"
    assert "pins" in subjects


SQUARES = tuple(f"{column}{row}" for row in range(1, 8) for column in "abcdefg")


@pytest.mark.parametrize("name", [17, "17", "GPIO17", "gpio17", " BCM17 ", "BOARD11", "board 11", "J8:11"])
def test_all_usual_names_of_a_pin_are_understood(name: int | str) -> None:
    assert parse_pin(name) == 17


def test_header_positions_agree_with_gpiozero() -> None:
    header = MockFactory(revision="c03111").board_info.headers["J8"]
    for position, info in header.pins.items():
        if "gpio" in info.interfaces and info.name not in ("GPIO0", "GPIO1"):
            assert f"GPIO{parse_pin(f'BOARD{position}')}" == info.name
        else:
            with pytest.raises(PinError):
                parse_pin(f"BOARD{position}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (28, "28 does not exist on the 40-pin header; use one of GPIO2 to GPIO27"),
        (-3, "does not exist"),
        (0, "identification chip"),
        ("BOARD28", "identification chip"),
        ("GPIO99", "does not exist"),
        ("BOARD6", "it is power, ground"),
        ("seventeen", "'seventeen' is not a pin; give a number such as 17"),
        ("", "is not a pin"),
        (True, "True is not a pin"),
    ],
)
def test_a_name_that_is_no_pin_is_refused_with_a_reason(name: int | str, message: str) -> None:
    with pytest.raises(PinError, match=message):
        parse_pin(name)


@given(st.one_of(st.integers(), st.text()))
def test_any_name_gives_a_valid_pin_or_a_pin_error(name: int | str) -> None:
    try:
        number = parse_pin(name)
    except PinError as error:
        refusal = str(error)
    else:
        assert 2 <= number <= 27
        return
    assert repr(name) in refusal


def test_a_pin_map_lists_the_use_of_each_pin() -> None:
    pins = GpioPinMap.from_names(
        columns={"a": 2, "b": 3},
        rows={"1": 4},
        status_red="BOARD33",
        status_green=19,
        status_blue=26,
        buzzer="GPIO18",
        buttons={"end turn": 5},
        known_places=SQUARES,
    )
    assert pins.status == (13, 19, 26)
    assert pins.uses == (
        ("column a", 2),
        ("column b", 3),
        ("row 1", 4),
        ("status red", 13),
        ("status green", 19),
        ("status blue", 26),
        ("buzzer", 18),
        ("button 'end turn'", 5),
    )


def test_every_problem_of_a_pin_map_is_listed_at_once() -> None:
    with pytest.raises(PinError) as refused:
        GpioPinMap.from_names(
            places={"c3": 17, "d4": "BOARD11", "z9": 22},
            status_red=40,
            status_green=5,
            buttons={"endturn": 6},
            known_places=SQUARES,
        )
    message = str(refused.value)
    assert "GPIO17 is used twice: for place c3 and for place d4; give each its own pin" in message
    assert "there is no place 'z9'" in message
    assert "the status light has no pin for blue" in message
    assert "the status light's red: 40 does not exist" in message
    assert "there is no button 'endturn' (did you mean 'end turn'?)" in message
    assert all(role in message for role in BUTTON_ROLES)


def test_edge_lights_need_columns_and_existing_rows() -> None:
    with pytest.raises(PinError, match="edge lights need pins for columns and for rows"):
        GpioPinMap.from_names(columns={"a": 2})
    with pytest.raises(PinError, match="there is no row '8'"):
        GpioPinMap.from_names(columns={"a": 2}, rows={"8": 3}, known_places=SQUARES)
    tall = [f"{column}{row}" for row in range(1, 15) for column in "abcdefg"]
    with pytest.raises(PinError, match=r"there is no row '15'.*; there are 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …, 14$"):
        GpioPinMap.from_names(columns={"a": 2}, rows={"15": 3}, known_places=tall)


@given(st.dictionaries(st.sampled_from(SQUARES), st.integers(0, 30), max_size=12))
def test_a_pin_map_is_accepted_if_and_only_if_its_pins_exist_and_differ(places: dict[str, int]) -> None:
    numbers = list(places.values())
    sound = all(2 <= number <= 27 for number in numbers) and len(set(numbers)) == len(numbers)
    if sound:
        assert dict(GpioPinMap.from_names(places=places, known_places=SQUARES).places) == places
    else:
        with pytest.raises(PinError):
            GpioPinMap.from_names(places=places, known_places=SQUARES)


@pytest.mark.parametrize(("place", "split"), [("c3", ("c", "3")), ("aa12", ("aa", "12")), ("bar", ("bar", ""))])
def test_a_place_name_splits_into_column_and_row(place: str, split: tuple[str, str]) -> None:
    assert column_and_row(place) == split
