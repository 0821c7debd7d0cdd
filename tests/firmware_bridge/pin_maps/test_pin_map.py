"""The owner's pin map: what it takes, what it refuses, and what of it reaches the board."""

import json
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import BridgeError
from firmware_bridge.firmware.core.pin_map import ACTIVE_BUZZER, COLOUR_ORDERS, MOST_LIGHTS, NO_BUZZER, PASSIVE_BUZZER
from firmware_bridge.firmware.core.pin_map import read_pin_map as read_on_board
from firmware_bridge.pin_maps.file import parse_pin_map, read_pin_map
from firmware_bridge.pin_maps.pin_map import BOARDS, PinMap, PinMapError, example_pin_map
from hardware.pin_map import BUTTON_ROLES, USUAL_BUTTONS


def parsed(text: str) -> PinMap:
    """The pin map that a text is."""
    return parse_pin_map(text, button_roles=BUTTON_ROLES, source="pins.toml")


def faults(text: str) -> list[str]:
    """What is wrong with a text, one sentence a fault."""
    with pytest.raises(PinMapError) as told:
        parsed(text)
    lines = str(told.value).splitlines()
    assert all(line.startswith("pins.toml: ") for line in lines)
    return [line.removeprefix("pins.toml: ") for line in lines]


def test_a_strip_draws_no_more_than_usb_can_give_unless_the_pin_map_says_so() -> None:
    without = read_on_board(b'{"format":1,"board":"pico","name":"","link":"usb","lights":{"pin":28,"count":2}}')
    assert (without.faults, without.limit_ma) == ([], 400)
    for board in BOARDS:
        lights = parsed(example_pin_map(board)).lights
        assert lights is not None
        assert lights.current_limit_ma == 400


def test_a_strip_alone_is_a_pin_map() -> None:
    made = parsed('board = "pico"\n[lights]\npin = 28\ncount = 25\n')
    assert made.lights is not None
    assert (made.lights.pin, made.lights.count, made.lights.order) == (28, 25, "GRB")
    assert made.lights.current_limit_ma == 400
    assert (made.light_count, made.switch_count, made.button_roles) == (25, 0, ())
    assert made.name == "Raspberry Pi Pico"
    assert made.link is None
    assert made.warnings == ()


def test_switches_are_counted_the_matrix_first() -> None:
    made = parsed(
        'board = "pico2"\n[matrix]\nrows = [2, 3]\ncolumns = [4, 5, 6]\n[switches]\npins = ["GP7", "gpio8"]\n'
    )
    assert made.matrix is not None
    assert (made.matrix.rows, made.matrix.columns, made.matrix.diodes) == ((2, 3), (4, 5, 6), False)
    assert made.switches == (7, 8)
    assert made.switch_count == 8


def test_buttons_keep_the_order_of_the_file() -> None:
    made = parsed('board = "pico"\n[buttons]\nhint = 3\n"end turn" = 2\n')
    assert made.button_roles == ("hint", "end turn")
    assert json.loads(made.device_json())["buttons"] == [3, 2]


def test_every_fault_is_told_at_once() -> None:
    told = faults(
        """
        board = "pico"
        link = "uart"
        lihgts = 3
        [uart]
        number = 1
        tx = 0
        rx = 5
        [lights]
        pin = "GP23"
        count = 301
        order = "gbr"
        brightness = 0
        current_limit_ma = true
        [matrix]
        rows = [1, 2, 3]
        columns = [2, 40, true, "two"]
        diodes = 1
        [buttons]
        hnt = 6
        "end turn" = 28
        [buzzer]
        kind = "loud"
        """
    )
    assert told == [
        "there is no key lihgts (did you mean lights?); known: board, name, link, uart, lights, matrix, switches, "
        "buttons, buzzer",
        "uart.tx is GP0; UART 1 of the Raspberry Pi Pico has its tx at one of GP4, GP8, GP20",
        "the lights: GP23 cannot be used: it is the board's own power save line and leads to no pin; use one of GP0 "
        "to GP22, GP26 to GP28",
        "lights.count is 301; expected a whole number from 1 to 300",
        'lights.order is "gbr"; expected one of "GRB", "RGB", "BRG", "RBG", "GBR", "BGR" (did you mean GBR?)',
        "lights.current_limit_ma is true; expected a whole number from 50 to 60000",
        "lights.brightness is 0; expected a number above 0, up to 1 for full",
        "GP2 is used twice: for matrix row 2 and for matrix column 1; give each its own pin",
        "matrix column 2: the Raspberry Pi Pico has no GP40; it has GP0 to GP22, GP26 to GP28",
        'matrix column 3: true is not a pin; expected a number such as 2, or "GP0"',
        'matrix column 4: "two" is not a pin; expected a number such as 2, or "GP0"',
        "matrix.diodes is 1; expected true or false",
        "there is no button buttons.hnt (did you mean hint?); known: end turn, hint, take back, "
        "anti-play, repetition, draw, resign",
        'buzzer.pin is missing; expected a pin such as 0 or "GP0"',
        'buzzer.kind is "loud"; expected one of "passive", "active"',
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", 'board is missing; expected one of "pico", "pico2", "esp32-s3"'),
        ('board = "pica"', 'board is "pica"; expected one of "pico", "pico2", "esp32-s3" (did you mean pico?)'),
        ("board = 3", 'board is 3; expected one of "pico", "pico2", "esp32-s3"'),
        (
            'board = "pico"',
            "nothing is connected to the board; give it at least one of lights, matrix, switches, buttons, buzzer",
        ),
        (
            'board = "pico"\n[lights]\npin = 28\ncount = 256\ncurrent_limit_ma = 250',
            "lights.current_limit_ma is 250; 256 lights draw 256 mA when dark and one of them in white 60 more; give "
            "at least 316",
        ),
        ('board = "pico"\nlights = 3', "lights is 3; expected a section [lights] with pin, count, order, "
         "current_limit_ma, brightness"),
        (
            'board = "pico"\n[buttons]\n[switches]\npins = []',
            "switches.pins is []; expected a list of pins, such as [2, 3, 4]",
        ),
        (
            'board = "pico"\nlink = "uart"\n[buzzer]\npin = 3',
            "the link is a UART, but there is no section [uart]; give it number, tx and rx",
        ),
        (
            'board = "pico"\n[uart]\nnumber = 0\ntx = 0\nrx = 1\n[buzzer]\npin = 3',
            'there is a section [uart], but the link is USB; write link = "uart", or leave the section out',
        ),
        (
            'board = "esp32-s3"\nlink = "uart"\n[uart]\nnumber = 0\ntx = 4\nrx = 5\n[buzzer]\npin = 6',
            "uart.number is 0; on the ESP32-S3 it can be 1 or 2",
        ),
        *(
            (
                f'board = "pico"\nlink = "uart"\n[uart]\nnumber = 0\ntx = 0\nrx = 1\nbaud = {baud}\n[buzzer]\npin = 3',
                f"uart.baud is {baud}; expected a whole number from 9600 to 921600",
            )
            for baud in (9599, 921_601)
        ),
        (f'board = "pico"\nname = "{"é" * 21}"\n[buzzer]\npin = 3', f'name is "{"é" * 21}"; expected a name of at most '
         "40 bytes"),
        (
            f'board = "pico"\n[matrix]\nrows = {list(range(17))}\ncolumns = [17]',
            "matrix.rows has 17 pins; at most 16 are taken",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, told: str) -> None:
    assert told in faults(text)


def test_a_file_that_is_no_toml_or_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(PinMapError, match="is not valid TOML"):
        parsed("board = ")
    with pytest.raises(PinMapError, match=r"No such file.*firmware pins --example"):
        read_pin_map(tmp_path / "pins.toml", button_roles=BUTTON_ROLES)
    (tmp_path / "pins.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PinMapError, match="not UTF-8"):
        read_pin_map(tmp_path / "pins.toml", button_roles=BUTTON_ROLES)


def test_delicate_pins_are_warned_of_and_taken() -> None:
    made = parsed('board = "esp32-s3"\n[lights]\npin = 45\ncount = 3\n[switches]\npins = [33, 4]\n')
    assert [warning.partition(":")[0] for warning in made.warnings] == ["pins.toml"] * 2
    assert "the lights is on GPIO45: the chip reads it when it starts" in made.warnings[0]
    assert "GPIO33: modules with octal memory" in made.warnings[1]


@pytest.mark.parametrize("board", sorted(BOARDS))
def test_the_example_of_each_board_is_good(board: str) -> None:
    made = parsed(example_pin_map(board))
    assert made.board.name == board
    assert made.warnings == ()
    assert (made.light_count, made.switch_count, made.button_roles) == (64, 64, USUAL_BUTTONS)


@pytest.mark.parametrize("board", sorted(BOARDS))
def test_what_the_example_leaves_out_can_be_put_in(board: str) -> None:
    lines = []
    for line in example_pin_map(board).splitlines():
        uncommented = line.removeprefix("# ")
        lines.append(
            uncommented if uncommented.startswith(("[", "number =", "tx =", "rx =", "baud =", "pins =")) else line
        )
    made = parsed("\n".join(lines).replace('link = "usb"', 'link = "uart"'))
    assert made.link is not None
    assert len(made.switches) == 2


def test_the_device_reads_the_same_bytes_each_time() -> None:
    made = parsed(example_pin_map("pico"))
    assert made.device_json() == parsed(example_pin_map("pico")).device_json()
    assert made.crc32 == zlib.crc32(made.device_json())
    assert b" " not in made.device_json().replace(b"Raspberry Pi Pico", b"")


@given(text=st.text(max_size=200))
def test_any_text_is_a_pin_map_or_a_clear_fault(text: str) -> None:
    with pytest.raises(BridgeError):
        parsed(text)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 400)
    | st.floats(allow_nan=False)
    | st.sampled_from(["GP3", "usb", "GRB"]),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=4,
)


def as_toml(value: object) -> str:
    """A value in TOML's notation; what TOML has not is told as a text."""
    return json.dumps(value, ensure_ascii=False).replace("null", '"null"')


@given(
    board=st.sampled_from(sorted(BOARDS)),
    sections=st.dictionaries(
        st.sampled_from(["uart", "lights", "matrix", "switches", "buttons", "buzzer", "pins"]),
        st.dictionaries(
            st.sampled_from(["pin", "pins", "count", "rows", "columns", "diodes", "order", "hint", "tx", "kind"]),
            VALUES,
        ),
        max_size=4,
    ),
    link=st.sampled_from(["usb", "uart"]),
)
def test_any_values_are_a_sound_map_or_faults(board: str, sections: dict[str, dict[str, object]], link: str) -> None:
    text = f'board = "{board}"\nlink = "{link}"\n'
    for name, values in sections.items():
        text += f"[{name}]\n" + "".join(f"{key} = {as_toml(value)}\n" for key, value in values.items())
    try:
        made = parsed(text)
    except PinMapError:
        return
    form = json.loads(made.device_json())
    pins = [*form.get("switches", ()), *form.get("buttons", ())]
    pins += [form[part]["pin"] for part in ("lights", "buzzer") if part in form]
    pins += [pin for side in ("rows", "columns") for pin in form.get("matrix", {}).get(side, ())]
    pins += [form["link"][wire] for wire in ("tx", "rx") if form["link"] != "usb"]
    assert pins
    assert len(pins) == len(set(pins))
    assert set(pins) <= made.board.pins - set(made.board.taken)
    assert made.light_count <= MOST_LIGHTS


@st.composite
def good_pin_maps(draw: st.DrawFn) -> str:
    """The text of a pin map in which nothing is wrong."""
    kind = BOARDS[draw(st.sampled_from(sorted(BOARDS)))]
    free = draw(st.permutations(sorted(kind.pins - set(kind.taken))))

    def take(count: int) -> list[int]:
        taken, free[:] = free[:count], free[count:]
        return taken

    parts = draw(st.sets(st.sampled_from(["lights", "matrix", "switches", "buttons", "buzzer"]), min_size=1))
    text = f'board = "{kind.name}"\n'
    if draw(st.booleans()):
        text += f"name = {as_toml(draw(st.text(st.characters(categories=['L', 'N']), min_size=1, max_size=10)))}\n"
    number, (tx, rx) = draw(st.sampled_from(sorted(kind.uarts))), (free[0], free[1])
    for_tx, for_rx = kind.serial_pins.get(number, ({tx}, {rx}))
    if draw(st.booleans()):
        tx, rx = min(for_tx), min(for_rx)
        free = [pin for pin in free if pin not in (tx, rx)]
        text += f'link = "uart"\n[uart]\nnumber = {number}\ntx = {tx}\nrx = {rx}\n'
        text += draw(st.just("") | st.integers(9600, 921_600).map("baud = {}\n".format))
    if "lights" in parts:
        count = draw(st.integers(1, MOST_LIGHTS))
        text += f"[lights]\npin = {take(1)[0]}\ncount = {count}\n"
        text += (
            f"brightness = {draw(st.floats(0.001, 1))}\ncurrent_limit_ma = {draw(st.integers(count + 60, 60_000))}\n"
        )
        text += f'order = "{draw(st.sampled_from(COLOUR_ORDERS))}"\n'
    if "matrix" in parts:
        rows, columns = take(draw(st.integers(1, 8))), take(draw(st.integers(1, 8)))
        text += f"[matrix]\nrows = {rows}\ncolumns = {columns}\ndiodes = {str(draw(st.booleans())).lower()}\n"
    if "switches" in parts:
        text += f"[switches]\npins = {take(draw(st.integers(1, 2)))}\n"
    if "buttons" in parts:
        # one pin is left for the buzzer
        roles = draw(st.lists(st.sampled_from(BUTTON_ROLES), unique=True, min_size=1, max_size=len(free) - 1))
        text += "[buttons]\n" + "".join(f'"{role}" = "{kind.pin_name(take(1)[0])}"\n' for role in roles)
    if "buzzer" in parts:
        text += f'[buzzer]\npin = {take(1)[0]}\nkind = "{draw(st.sampled_from(["active", "passive"]))}"\n'
    return text


@given(text=good_pin_maps())
def test_what_is_good_here_is_good_on_the_board(text: str) -> None:
    made = parsed(text)
    there = read_on_board(made.device_json())
    assert there.faults == []
    assert there.checksum == made.crc32
    assert there.board == made.name
    assert (there.lights, there.switches, len(there.buttons)) == (
        made.light_count,
        made.switch_count,
        len(made.button_roles),
    )
    assert there.uart == (None if made.link is None else (made.link.uart, made.link.tx, made.link.rx, made.link.baud))
    if made.lights is not None:
        assert (there.light_pin, there.light_order) == (made.lights.pin, made.lights.order)
        assert there.limit_ma == made.lights.current_limit_ma
        assert there.brightness == max(1, round(255 * made.lights.brightness))
    if made.matrix is not None:
        assert (tuple(there.rows), tuple(there.columns), there.diodes) == (
            made.matrix.rows,
            made.matrix.columns,
            made.matrix.diodes,
        )
    assert tuple(there.singles) == made.switches
    assert there.buttons == [pin for _, pin in made.buttons]
    kinds = {NO_BUZZER: None, ACTIVE_BUZZER: "active", PASSIVE_BUZZER: "passive"}
    assert kinds[there.buzzer] == (None if made.buzzer is None else made.buzzer.kind)
