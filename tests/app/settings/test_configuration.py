"""Settings from files and the environment, with their errors, and layouts of tables."""

import json
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.settings.configuration import Configuration, example, load
from app.settings.settings import Button, Settings
from app.settings.sources import lines_of_keys
from app.settings.table_layout import (
    game_of_layout,
    grid_of_table,
    layout_for,
    layout_for_camera,
    settings_for,
    with_rules,
)
from common.toml_text import as_toml
from engine import registry
from engine.registry import load as load_game
from firmware_bridge.connection.conversation import LOST_AFTER_S
from hardware.pin_map import ANNOUNCING_BUTTONS, BUTTON_ROLES, USUAL_BUTTONS
from referee.errors import ConfigError
from referee.judge.settings import JudgeSettings
from tests.present import present
from vision.errors import LayoutError
from vision.layout.kit import kit_of
from vision.layout.pieces import NET_SIDES, BlockPieces, DicePieces
from vision.layout.table import TableLayout, default_layout, games_with_layouts
from vision.readers.dice.photographs import INSIDE, FaceSet


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def load_text(folder: Path, text: str, **environment: str) -> Configuration:
    (folder / "referee.toml").write_text(text)
    return load(None, environment={"HOME": str(folder), **environment}, folder=folder)


def test_without_a_file_every_setting_has_its_default(folder: Path) -> None:
    configuration = load(None, environment={"HOME": str(folder)}, folder=folder)
    assert configuration.file is None
    assert {str(source) for _, _, source in configuration.rows()} == {"default"}
    assert configuration.settings.turn == Settings().turn
    assert configuration.settings.journal.path == folder / ".local/share/tabletop-referee/journal.sqlite"


def test_the_example_gives_the_defaults(folder: Path) -> None:
    assert Settings.model_validate(tomllib.loads(example())) == Settings()
    load_text(folder, example())


def test_the_example_names_every_setting(folder: Path) -> None:
    uncommented = "\n".join(
        line.removeprefix("# ") if line.startswith("# ") and " = " in line else line for line in example().splitlines()
    )
    for section in Settings.model_fields:
        for key in type(getattr(Settings(), section)).model_fields:
            assert f"\n{key} = " in uncommented.partition(f"[{section}]")[2], f"{section}.{key}"


def test_the_example_s_commented_values_are_valid() -> None:
    for section, values in Settings():
        for key, field in type(values).model_fields.items():
            for sample in field.examples or ():
                Settings.model_validate({section: {key: tomllib.loads(f"value = {as_toml(sample)}")["value"]}})


def test_flags_outrank_the_environment_which_outranks_the_file(folder: Path) -> None:
    (folder / "referee.toml").write_text('[turn]\nend = "button"\nrest_s = 2\nmargin = 5\n')
    configuration = load(
        None,
        environment={"HOME": str(folder), "REFEREE_TURN_REST_S": "3", "REFEREE_TURN_MARGIN": "4"},
        folder=folder,
        flags={"turn.margin": 7.5},
    )
    turn = configuration.settings.turn
    assert (turn.end, turn.rest_s, turn.margin) == ("button", 3.0, 7.5)
    sources = {name: str(source) for name, _, source in configuration.rows()}
    assert sources["turn.end"] == f"{folder / 'referee.toml'}:2"
    assert sources["turn.rest_s"] == "$REFEREE_TURN_REST_S"
    assert sources["turn.margin"] == "--margin"
    assert sources["camera.source"] == "default"


def test_a_cameras_password_is_not_listed(folder: Path) -> None:
    configuration = load_text(folder, '[camera]\nsource = "http://me:secret@camera:81/film?pwd=secret"\n')
    assert configuration.settings.camera.source.count("secret") == 2
    values = {name: value for name, value, _ in configuration.rows()}
    assert values["camera.source"] == '"http://camera:81"'
    assert "secret" not in str(values)


@pytest.mark.parametrize("address", ["http://me:secret@camera:81/film", "rtsp://camera/?pwd=secret"])
def test_a_cameras_password_is_refused_on_the_command_line_and_taken_from_elsewhere(folder: Path, address: str) -> None:
    with pytest.raises(ConfigError, match="--camera: everybody on this machine can read") as told:
        load(None, environment={}, folder=folder, flags={"camera.source": address})
    assert "secret" not in str(told.value)
    assert load_text(folder, "", REFEREE_CAMERA_SOURCE=address).settings.camera.source == address
    named = load_text(folder, '[camera]\nsource = "address:camera"\n').settings.camera.source
    assert named == f"address:{folder / 'camera'}"


def test_the_judge_takes_every_margin_that_the_settings_take(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"turn.margin is 2; expected a number above 2, up to 100"):
        load_text(folder, "[turn]\nmargin = 2\n")
    assert JudgeSettings(margin=load_text(folder, "[turn]\nmargin = 2.01\n").settings.turn.margin)


def test_a_list_in_the_environment_is_separated_by_commas(folder: Path) -> None:
    assert load_text(folder, "", REFEREE_LIGHTS_DRIVERS="terminal, board").settings.lights.drivers == (
        "terminal",
        "board",
    )


def test_the_file_is_searched_for_in_order(tmp_path: Path) -> None:
    home, work, named = tmp_path / "home", tmp_path / "work", tmp_path / "named.toml"
    user_file = home / ".config/tabletop-referee/referee.toml"
    user_file.parent.mkdir(parents=True)
    work.mkdir()
    user_file.write_text("[turn]\nrest_s = 1\n")
    environment = {"HOME": str(home)}
    assert load(None, environment=environment, folder=work).file == user_file
    (work / "referee.toml").write_text("[turn]\nrest_s = 2\n")
    assert load(None, environment=environment, folder=work).file == work / "referee.toml"
    named.write_text("[turn]\nrest_s = 3\n")
    environment["REFEREE_CONFIG"] = str(named)
    assert load(None, environment=environment, folder=work).file == named
    (work / "flag.toml").write_text("")
    assert load(Path("flag.toml"), environment=environment, folder=work).file == work / "flag.toml"


def test_xdg_folders_count_only_if_absolute(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere/tabletop-referee"
    elsewhere.mkdir(parents=True)
    (elsewhere / "referee.toml").touch()
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "elsewhere"), "XDG_DATA_HOME": "relative"}
    configuration = load(None, environment=environment, folder=tmp_path)
    assert configuration.file == elsewhere / "referee.toml"
    assert configuration.settings.journal.path == tmp_path / ".local/share/tabletop-referee/journal.sqlite"


@pytest.mark.parametrize(("path", "variables"), [(Path("no.toml"), {}), (None, {"REFEREE_CONFIG": "no.toml"})])
def test_a_named_file_must_exist(folder: Path, path: Path | None, variables: dict[str, str]) -> None:
    with pytest.raises(
        ConfigError, match=r"there is no settings file .*no\.toml \(named by (--config|\$REFEREE_CONFIG)\)"
    ):
        load(path, environment={"HOME": str(folder), **variables}, folder=folder)


def test_paths_in_the_file_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "settings").mkdir()
    file = tmp_path / "settings/mine.toml"
    file.write_text('[table]\nlayout = "layout.json"\nlooks = "~/looks.json"\n[journal]\npath = "/var/j.sqlite"\n')
    environment = {"HOME": str(tmp_path), "REFEREE_CAMERA_CALIBRATION": "camera.json"}
    settings = load(file, environment=environment, folder=tmp_path / "work").settings
    assert settings.table.layout == tmp_path / "settings/layout.json"
    assert settings.table.looks == Path("~/looks.json").expanduser()
    assert settings.journal.path == Path("/var/j.sqlite")
    assert settings.camera.calibration == tmp_path / "work/camera.json"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("images:pics", "images:{}/pics"),
        ("folder:./pics", "folder:{}/pics"),
        ("game.mp4", "{}/game.mp4"),
        ("~/game.mp4", "~/game.mp4"),
        ("usb:0", "usb:0"),
        ("1", "1"),
    ],
)
def test_pictures_of_the_camera_are_relative_to_the_file(folder: Path, source: str, found: str) -> None:
    (folder / "settings").mkdir()
    (folder / "settings/game.mp4").touch()
    (folder / "settings/mine.toml").write_text(f'[camera]\nsource = "{source}"\n')
    settings = load(folder / "settings/mine.toml", environment={}, folder=folder).settings
    assert settings.camera.source == found.format(folder / "settings")
    (folder / "mine.toml").write_text("")
    given = load(folder / "mine.toml", environment={"REFEREE_CAMERA_SOURCE": source}, folder=folder).settings
    assert given.camera.source == source


@pytest.mark.parametrize("name", ["~nobody-here/x.toml", "a\\u0000b"])
def test_impossible_file_names_are_faults_of_the_settings(folder: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r":2: camera\.calibration: .* can't be the name of a file"):
        load_text(folder, f'[camera]\ncalibration = "{name}"\n')
    with pytest.raises(ConfigError, match=r":2: camera\.source: .* can't be the name of a file"):
        load_text(folder, f'[camera]\nsource = "images:{name}"\n')
    with pytest.raises(ConfigError, match="can't be the name of a file"):
        load(None, environment={"REFEREE_CONFIG": "~nobody-here/x.toml"}, folder=folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[turn]\n\nend = "buton"\n',
            r':3: turn\.end is "buton"; expected .*\'button\', \'touch\' or \'rest\' \(did you mean button\?\)',
        ),
        (
            "[turn]\nrest = 3\n",
            r":2: there is no setting turn\.rest \(did you mean rest_s\?\); known: end, rest_s, margin",
        ),
        ('name = "diaballik"\n', r":1: there is no setting name; name belongs under \[game\]$"),
        ("[table]\nrest_s = 3\n", r":2: there is no setting table\.rest_s; rest_s belongs under \[turn\]$"),
        ("[trun]\nrest_s = 3\n", r":1: there is no setting trun \(did you mean turn\?\)"),
        ("[camera]\nwidth_px = 3\n", r":2: camera\.width_px is 3; expected 160 to 8192"),
        ("[camera]\nmains_hz = 55\n", r":2: camera\.mains_hz is 55; expected 50 or 60$"),
        (
            '[camera]\n# wide\nwidth_px = "wide"\n',
            r':3: camera\.width_px is "wide"; expected a whole number, 160 to 8192$',
        ),
        ("turn = 3\n", r":1: turn is 3; expected settings under \[turn\]$"),
        ('[lights]\ndrivers = "gpio"\n', r':2: lights\.drivers is "gpio"; expected a list, such as \["gpio"\]$'),
        ("[lights]\nplace_pins = 3\n", r"is 3; expected a table in a settings file, such as \{d2 = 5, d6 = 6\}$"),
        ("[lights]\nbuzzer_pin = 1.5\n", r"buzzer_pin is 1\.5; expected a whole number or text in quotes$"),
        ('[lights]\nbell = "perhaps"\n', r'bell is "perhaps"; expected true or false$'),
        ("[lights]\nbutton_pins = {go = 5}\n", r"button_pins\.go is \"go\"; expected 'end turn', 'hint'"),
        ("[camera]\nsource = true\n", r"camera\.source is true; expected text in quotes$"),
        ("[camera]\ncalibration = 2026-11-21\n", r"is \"2026-11-21\"; expected the name of a file, in quotes$"),
        ("[game]\noptions = {a = 1.5}\n", r"a is 1\.5; expected true or false or a whole number or text in quotes$"),
        (
            '[lights]\ndrivers = [\n  "terminal",\n  "gpoi",\n]\n',
            r':2: lights\.drivers\.1 is "gpoi"; .*\(did you mean gpio\?\)',
        ),
        ("[lights]\nplace_pins = {d2 = 5, d6 = 99}\n", r":1: lights: place d6: 99 does not exist"),
        ("[lights.place_pins]\nd2 = 5\nd6 = 99\n", r":1: lights: place d6: 99 does not exist"),
        (
            '[lights]\nbuzzer_pin = 5\ndrivers = ["board", "terminal", "board"]\n',
            r":3: lights\.drivers: board is named twice; name each driver once",
        ),
        (
            '[lights]\ndrivers = ["gpio"]\nbutton_pins = {hint = 5}\n',
            r":2: lights\.drivers: the driver gpio has no pin to drive; give it pins for places, the status light or",
        ),
        ("[lights]\nplace_pins = {d9 = 5}\n", r":1: lights: there is no place 'd9'"),
        ("[lights]\nbuzzer_pin = 5\nplace_pins = {d2 = 'GPIO5'}\n", r":1: lights: GPIO5 is used twice"),
        (
            '[lights]\nbuzzer_pin = 5\n[sensors]\nsource = "pins"\nrow_pins = [5, 6]\ncolumn_pins = [6, 99]\n',
            r":3: sensors: GPIO5 is used twice: for buzzer and for sensor row 1.*GPIO6 is used.*99 does not",
        ),
        (
            '[sensors]\nsource = "pins"\nrow_pins = [5]\n',
            r":1: sensors: a sensor matrix needs pins for rows and for col",
        ),
        ('[sensors]\nsource = "pins"\n', r":1: sensors: there is no pin with a sensor"),
        ("[page]\nport = true\n", r":2: page\.port is true; expected a whole number, 1 to 65535$"),
        ("[turn]\nrest_s = true\n", r":2: turn\.rest_s is true; expected a number"),
        ('[sensors]\nsource = "board"\neyes = "bath"\n', r':3: sensors\.eyes is "bath"; .*\(did you mean both\?\)'),
        (
            "[sensors]\nfalse_open = 0.5\n",
            r":2: sensors\.false_open is 0\.5; expected 0\.001 to 0\.2$",
        ),
        ('[game]\nname = "debockle"\n', r':2: game\.name is "debockle"; .*did you mean \'deblockle\''),
        ("[game]\noptions = {blocks_gould = 2}\n", r":2: game\.options: .*did you mean \'blocks_gold\'"),
        ("[game.options]\nside_by_side = true\nblocks_gold = 9\n", r":3: game\.options: .*blocks_gold is 9"),
        ("[turn\n", r"referee\.toml is not valid TOML: .*line 1"),
        ("[game]\nname = diaballik\n", r"referee\.toml is not valid TOML: .*line 2.*; text needs quotes"),
        ("[turn]\nrest_s = 1\nrest_s = 2\n", r"referee\.toml is not valid TOML: .*line 3"),
    ],
)
def test_a_wrong_value_is_named_with_its_line_and_what_is_allowed(folder: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_text(folder, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lights]\ndebounce_ms = 0\n", r":2: lights.debounce_ms is 0; expected a number above 0, up to 1000$"),
        ("[board]\ndebounce_ms = 501\n", r":2: board.debounce_ms is 501; expected 1 to 500$"),
    ],
)
def test_buttons_that_could_never_be_pressed_are_refused(folder: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_text(folder, text)


def test_a_removed_setting_without_effect_is_accepted_and_a_long_debounce_too(folder: Path) -> None:
    assert load_text(folder, "[lights]\nlong_press_s = 0.4\ndebounce_ms = 1000\n").settings.lights.debounce_ms == 1000


def test_the_board_waits_longer_than_the_link_before_it_counts_as_left_alone(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r":2: board.silence_s is 2; expected 2.5 to 60$"):
        load_text(folder, "[board]\nsilence_s = 2\n")
    assert load_text(folder, "[board]\nsilence_s = 2.5\n").settings.board.silence_s > LOST_AFTER_S


def test_faults_of_settings_that_contradict_each_other_are_named_at_once(folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_text(
            folder,
            '[game]\noptions = {nonsense = 1}\n[lights]\nplace_pins = {d9 = 5}\n[page]\naddress = "here"\n',
        )
    assert len(str(caught.value).splitlines()) == 3


def test_the_starting_player_can_be_left_open(folder: Path) -> None:
    settings = load_text(folder, '[game.options]\nstarts = "either"\nblocks_gold = 3\n').settings
    assert settings.game.options == {"starts": "either", "blocks_gold": 3}


def test_of_very_many_faults_the_first_ones_are_named(folder: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        load_text(
            folder, "".join(f"key{number} = {number}\n" for number in range(500)) + f'[game]\nname = "{"x" * 9999}"'
        )
    *named, last = str(refused.value).splitlines()
    assert len(named) == 20
    assert last == "and more"
    with pytest.raises(ConfigError, match="larger than 1 MiB"):
        load_text(folder, "# " + "x" * 1024 * 1024)
    with pytest.raises(ConfigError) as refused:
        load_text(folder, f'[sensors]\neyes = "{"x" * 99_999}"')
    assert len(str(refused.value)) < 2000


def test_every_fault_is_named_at_once(folder: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_text(folder, '[turn]\nend = "x"\nrest_s = -1\n[nonsense]\n')
    assert len(str(caught.value).splitlines()) == 3


def test_a_wrong_variable_is_named(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"^\$REFEREE_TURN_END: turn\.end is \"x\""):
        load_text(folder, "", REFEREE_TURN_END="x")
    with pytest.raises(ConfigError, match=r"\$REFEREE_TURN_ENDS names no setting; did you mean REFEREE_TURN_END\?"):
        load_text(folder, "", REFEREE_TURN_ENDS="rest")
    with pytest.raises(
        ConfigError, match=r"\$REFEREE_CAMRA_SOURCE names no setting; did you mean REFEREE_CAMERA_SOURCE"
    ):
        load_text(folder, "", REFEREE_CAMRA_SOURCE="0")
    with pytest.raises(ConfigError, match=r"\$REFEREE_QQ names no setting; `./run tools config --example` shows"):
        load_text(folder, "", REFEREE_QQ="0")
    load_text(folder, "", REFEREE_DEBUG="1", REFEREE_REAL_WLED="wled.local")


def test_the_camera_can_be_a_number(folder: Path) -> None:
    assert load_text(folder, "[camera]\nsource = 0\n").settings.camera.source == "0"


def test_a_file_that_is_no_text_and_a_folder_are_refused(folder: Path) -> None:
    (folder / "referee.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load(None, environment={"HOME": str(folder)}, folder=folder)
    with pytest.raises(ConfigError, match="there is no settings file"):
        load(folder, environment={"HOME": str(folder)}, folder=folder)


@pytest.mark.parametrize("options", ['[game.options]\nsheet = "ours.toml"', 'options = { sheet = "ours.toml" }'])
def test_a_sheet_file_is_looked_for_beside_the_settings(folder: Path, options: str) -> None:
    file = folder / "elsewhere" / "club.toml"
    file.parent.mkdir()
    file.write_text(f'[game]\nname = "blokus-dice"\n{options}\n')
    with pytest.raises(
        ConfigError, match=rf"club\.toml:\d: game\.options: cannot read {file.parent}/ours\.toml: No such"
    ):
        load(file, environment={}, folder=folder)
    (file.parent / "ours.toml").write_text(present(registry.load("blokus-dice").sheet_file).text())
    named = load(file, environment={}, folder=folder).settings.game.options
    assert named == {"sheet": str(file.parent / "ours.toml")}


def test_the_lines_of_keys_are_found_whatever_their_quoting() -> None:
    text = '# head\n\n"a b" = 1\n[t]\nlong = """\nx = 1\n"""\n\n# about y\nlist = [\n 1,\n 2,\n]\n'
    text += "d.e.f = 2\n[[tables]]\nz = 1\n"
    assert lines_of_keys(text) == {
        "a b": 3, "t": 4, "t.long": 5, "t.list": 10, "t.d": 14, "t.d.e": 14, "t.d.e.f": 14, "tables": 15,
    }  # fmt: skip


KEYS = st.from_regex(r"[a-z][a-z0-9_-]{0,6}", fullmatch=True)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS | st.text(st.characters(codec="ascii"), min_size=1), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=6))
def test_values_are_written_as_toml_and_found_on_their_lines(values: dict[str, object]) -> None:
    text = "".join(f"\n# about {key}\n{key} = {as_toml(value)}\n" for key, value in values.items())
    assert tomllib.loads(text) == values
    lines = text.split("\n")
    for key, line in lines_of_keys(text).items():
        if key in values and "." not in key:
            assert lines[line - 1].startswith(f"{key} = ")


def test_the_documentation_names_every_section() -> None:
    text = (Path(__file__).parents[3] / "docs/configuration.md").read_text(encoding="utf-8")
    listed = text.partition("The sections are ")[2].partition("\n\n")[0]
    assert re.findall(r"`\[(\w+)\]`", listed) == re.findall(r"^\[(\w+)\]$", example(), re.MULTILINE)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('quiet_hours = "22-7"', 'page.quiet_hours is "22-7"; expected text such as "22:00-07:00"'),
        ('quiet_hours = "25:00-07:00"', 'expected text such as "22:00-07:00"'),
        ('address = "house"', 'page.address is "house"; expected an address of this machine, or "0.0.0.0"'),
        ("port = 0", "page.port is 0; expected 1 to 65535"),
        ('language = "fr"', "page.language is \"fr\"; expected 'en' or 'de'"),
    ],
)
def test_a_wrong_setting_of_the_page_is_refused_with_what_was_expected(folder: Path, line: str, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_text(folder, f"[page]\n{line}\n")
    assert words in str(refused.value)


def test_settings_name_every_use_of_a_button() -> None:
    assert get_args(Button) == BUTTON_ROLES
    assert set(BUTTON_ROLES) == {*USUAL_BUTTONS, *ANNOUNCING_BUTTONS}


@pytest.mark.parametrize("options", ["blocks_gold = 3", "repetition_draw = true", 'starts = "teal"'])
def test_options_belong_to_the_game_they_were_set_for(folder: Path, options: str) -> None:
    (folder / "referee.toml").write_text(f'[game]\nname = "deblockle"\n[game.options]\n{options}\n')
    home = {"HOME": str(folder)}
    by_flag = load(None, environment=home, folder=folder, flags={"game.name": "diaballik"})
    by_variable = load(None, environment={**home, "REFEREE_GAME_NAME": "diaballik"}, folder=folder)
    for other in (by_flag, by_variable):
        assert (other.settings.game.name, other.settings.game.options) == ("diaballik", {})
        assert {name: str(source) for name, _, source in other.rows()}["game.options"] == "default"
    for spelling in ("deblockle", "Deblockle", " DEBLOCKLE "):
        same = load(None, environment=home, folder=folder, flags={"game.name": spelling})
        assert len(same.settings.game.options) == 1


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("[lights]\nbutton_pins={hints=5}", "did you mean hint?"),
        ('[page]\nlanguage="dee"', "did you mean de?"),
        ('[lights]\nbuzzer="activ"', "did you mean active?"),
        ('[board]\nbuttons=["hints"]', "did you mean hint?"),
    ],
)
def test_the_nearest_choice_is_named_for_every_kind_of_setting(folder: Path, text: str, near: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_text(folder, text)
    assert near in str(error.value)


def test_a_file_name_with_a_null_byte_is_a_fault_of_the_settings(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"referee.toml:3"):
        load_text(folder, '[game]\nname="blokus-dice"\noptions={sheet="a\\u0000.toml"}')


def test_a_byte_order_mark_is_skipped(folder: Path) -> None:
    assert load_text(folder, '\ufeff[game]\nname="diaballik"').settings.game.name == "diaballik"


OWN_DICE = "1*3457/12*456/234*67/123597/IOTLS*"
OWN_NET = "star/stop/x/slider/hoops/cross"


def shipped(name: str) -> dict[str, Any]:
    """The layout file that comes with a game."""
    text = resources.files("vision.layout").joinpath("games", f"{name}.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def own(data: dict[str, Any], folder: Path) -> Path:
    """An owner's layout file."""
    path = folder / "layout.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def dice_of(layout: TableLayout) -> DicePieces:
    return next(surface.pieces for surface in layout.surfaces if isinstance(surface.pieces, DicePieces))


@pytest.mark.parametrize(("name", "players"), [("number-drop", 1), ("number-drop", 6), ("blokus-dice", 4)])
def test_every_player_has_a_sheet(name: str, players: int) -> None:
    game = load_game(name)
    layout = with_rules(default_layout(name), game, {"players": players})
    assert layout.places == tuple(game.table.appearance(game.rules.new({"players": players})))
    assert len(grid_of_table(layout).rows[0]) == players * layout.board.columns


def test_an_owners_own_sheet_is_divided_as_specified() -> None:
    layout = with_rules(default_layout("blokus-dice"), load_game("blokus-dice"), {"sheet": "8x6/3/-/1/2/I3/V3/I4/L4"})
    assert (layout.board.columns, layout.board.rows, layout.board.cell_mm) == (8, 6, 17.5)


def test_a_board_stays_unchanged_and_is_no_sheet() -> None:
    board = default_layout("deblockle")
    assert with_rules(board, load_game("deblockle"), {}) is board
    assert grid_of_table(board).rows[-1][0] == "a1"
    with pytest.raises(LayoutError, match="has no sheets"):
        with_rules(board, load_game("number-drop"), {})


@pytest.mark.parametrize("changed", [{"cols": 8}, {"rows": 6}, {"cols": 8, "rows": 6}])
def test_a_board_with_other_squares_than_the_games_is_refused(changed: dict[str, int], tmp_path: Path) -> None:
    layout = shipped("diaballik")
    assert layout_for("diaballik", own(layout, tmp_path)).board.columns == 7
    layout["board"] |= changed
    with pytest.raises(LayoutError, match=r"squares, a1 to .*; Diaballik needs 7 x 7, a1 to g7"):
        layout_for("diaballik", own(layout, tmp_path))


def test_kit_names_the_layout_of_the_paper_kit_unless_there_is_such_a_file(tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    assert layout_for("deblockle", kit) == kit_of("deblockle").layout != default_layout("deblockle")
    assert not layout_for("deblockle", kit, "none").markers.centres_mm
    assert game_of_layout(kit) is None
    kit.write_text(json.dumps(shipped("deblockle")), encoding="utf-8")
    assert layout_for("deblockle", kit) == default_layout("deblockle")


def test_another_game_at_a_table_of_paper_is_of_paper_too(tmp_path: Path) -> None:
    table = Settings().changed({"table.layout": tmp_path / "kit"})
    other = settings_for(table, load_game("blockade"), {})
    assert layout_for("blockade", other.table.layout) == kit_of("blockade").layout
    measured = Settings().changed({"table.layout": tmp_path / "layout.json"})
    assert settings_for(measured, load_game("blockade"), {}).table.layout == tmp_path / "layout-blockade.json"


def test_a_kit_is_as_flat_as_paper_and_has_the_games_squares() -> None:
    for game in games_with_layouts():
        kit, usual = kit_of(game).layout, default_layout(game)
        assert kit.places == usual.places
        assert kit.board.height_mm < 0.5


def test_the_camera_looks_for_the_dice_of_the_options() -> None:
    game, layout = load_game("number-drop"), default_layout("number-drop")
    assert dice_of(with_rules(layout, game, {"dice": OWN_DICE.lower()})).printed == tuple(OWN_DICE.split("/"))
    assert dice_of(with_rules(layout, game, {"dice": "printed"})) == dice_of(layout)


def test_a_layout_may_list_an_owners_dice_too_but_no_others(tmp_path: Path) -> None:
    game, data = load_game("number-drop"), shipped("number-drop")
    data["dice_tray"]["faces"] = ["975321", *OWN_DICE.split("/")[:3], "IOTLS*"]
    layout = layout_for("number-drop", own(data, tmp_path))
    assert dice_of(with_rules(layout, game, {"dice": OWN_DICE})) == dice_of(layout)
    for options in ({}, {"dice": OWN_DICE.replace("9", "8")}):
        with pytest.raises(LayoutError, match=r"the layout has the dice 975321/.*, and the game 1\*3457/.*; give the"):
            with_rules(layout, game, options)


@pytest.mark.parametrize(
    ("name", "dice", "fits"), [("*", "printed", True), ("star", "printed", False), ("9", OWN_DICE, True)]
)
def test_learned_faces_have_the_games_names(name: str, dice: str, fits: bool, tmp_path: Path) -> None:
    data = shipped("number-drop")
    data["dice_tray"]["faces"] = "faces.npz"
    layout = layout_for("number-drop", own(data, tmp_path))
    FaceSet(("1", name), np.zeros((2, INSIDE.size), dtype=np.float32)).save(tmp_path / "faces.npz")
    if fits:
        assert dice_of(with_rules(layout, load_game("number-drop"), {"dice": dice})) == dice_of(layout)
    else:
        with pytest.raises(
            LayoutError, match=r"faces\.npz has the faces star, and the game's dice 1\*3457/.*each named"
        ):
            with_rules(layout, load_game("number-drop"), {"dice": dice})


def test_the_camera_looks_for_the_blocks_of_the_options(tmp_path: Path) -> None:
    game, layout = load_game("deblockle"), default_layout("deblockle")
    assert with_rules(layout, game, {"net": "stop/star/hoops/x/slider/cross", "starts": "either"}) is layout
    own_blocks = with_rules(layout, game, {"net": OWN_NET})
    assert "/".join(BlockPieces.on(own_blocks.board).net[side] for side in NET_SIDES) == OWN_NET
    assert with_rules(own_blocks, game, {"net": OWN_NET}) is own_blocks
    with pytest.raises(LayoutError, match=rf"with the net {OWN_NET}, and the game with star/stop/slider/x/hoops/cross"):
        with_rules(own_blocks, game, {})
    data = shipped("deblockle")
    data["block"]["net"]["up"] = "stop"
    with pytest.raises(LayoutError, match="with the net stop/stop/slider"):
        with_rules(layout_for("deblockle", own(data, tmp_path)), game, {})


def test_a_layout_with_pieces_that_never_look_like_the_games_is_refused(tmp_path: Path) -> None:
    data = shipped("deblockle")
    data["piece"], data["ball"] = {"diameter": 25, "height": 10}, {"diameter": 15}
    del data["block"]
    with pytest.raises(
        LayoutError, match="has the look 'gold block, star up', and the reader of the board gives gold pi"
    ):
        layout_for_camera("deblockle", own(data, tmp_path))
