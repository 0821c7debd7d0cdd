"""``referee tools sheet``, and sheet files as options of a game."""

from pathlib import Path

import pytest
from click.testing import Result

from engine.errors import OptionError
from engine.registry import load
from referee.settings.conversions import table_options, with_sheet_file
from tests.commands import Run, runner_in
from tests.present import present


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``referee`` in an empty folder."""
    runner = runner_in(tmp_path, monkeypatch)

    def invoke(*arguments: str, code: int = 0) -> Result:
        result = runner(*arguments)
        assert result.exit_code == code, result.output + result.stderr
        return result

    return invoke


def written(*changes: tuple[str, str]) -> str:
    """Write ``ours.toml``: the default sheet with these changes."""
    text = present(load("blokus-dice").sheet_file).text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path("ours.toml").write_text(text, encoding="utf-8")
    return "ours.toml"


def test_a_new_sheet_is_a_copy_of_the_default_one(run):
    printed = run("sheet", "new").output
    run("sheet", "new", "--out", "ours.toml")
    assert Path("ours.toml").read_text(encoding="utf-8") == printed == present(load("blokus-dice").sheet_file).text()
    assert "--option sheet=house\nIn short: --option sheet=ours.toml" in run("sheet", "check", "ours.toml").output


def test_a_file_whose_name_has_a_space_can_be_copied_from_what_is_said(run):
    said = run("sheet", "new", "--out", "our sheet.toml").output
    assert "sheet check 'our sheet.toml' --game blokus-dice" in said
    assert "In short: --option 'sheet=our sheet.toml'\n" in run("sheet", "check", "our sheet.toml").output


def test_no_file_is_overwritten_unless_asked(run):
    Path("ours.toml").write_text("mine", encoding="utf-8")
    assert "--force" in run("sheet", "new", "--output", "ours.toml", code=2).stderr
    assert Path("ours.toml").read_text(encoding="utf-8") == "mine"
    run("sheet", "new", "--output", "ours.toml", "--force")
    assert Path("ours.toml").read_text(encoding="utf-8") != "mine"
    full = run("sheet", "new", "--output", "/dev/full", "--force", code=8)
    assert full.stderr == "referee: error: /dev/full: No space left on device\n"


def test_an_owners_own_sheet_is_shown_checked_and_played_with(run):
    ours = written(('"10x10"', '"8x6"'), ("blocked = []", 'blocked = ["b2", "e4"]'), ('"house"', '"ours"'))
    shown = run("sheet", "show", ours).output
    assert shown.startswith("ours\n")
    assert " 2 . # . . . . . .\n" in shown
    assert "21 shapes, 89 squares; 46 to fill; 3 strikes" in shown
    assert "house" in run("sheet", "show").output
    value = "8x6/3/b2,e4/1,2,I3,V3/I4,L4,T4,O4,Z4/I5,L5,Y5/P5,U5,V5/T5,X5,F5/N5,W5,Z5"
    assert f"--option sheet={value}\n" in run("sheet", "check", ours).output
    assert "8 by 6 squares (46 of them open)" in run("rules", "blokus-dice", "--option", "sheet=ours.toml").output
    count = ("perft", "blokus-dice", "--depth", "1", "--roll", "1,2,3,4", "--option")
    counted = run(*count, f"sheet={ours}").output
    assert counted == run(*count, f"sheet={value}").output
    assert counted != "184\n"


def test_every_fault_of_a_sheet_file_is_named(run):
    sheet = written(("[rows]", "[shapes]"))
    said = run("sheet", "check", sheet, code=4).stderr
    assert "line 17, shapes: is not a key of a sheet" in said
    assert "rows.1: got nothing" in said
    assert all(line.startswith("referee: error: ") for line in said.splitlines())
    assert run("sheet", "show", sheet, code=4).stderr == said


def test_a_sheet_file_of_another_game_is_recognised(run):
    run("sheet", "new", "--game", "number-drop", "--output", "ours.toml")
    for command in ("check", "show"):
        said = run("sheet", command, "ours.toml", code=2).stderr
        assert "ours.toml is a file of number-drop; add --game number-drop." in said


def test_unreadable_sheet_files_are_refused(run):
    assert "does not exist" in run("sheet", "check", "none.toml", code=2).stderr
    Path("ours.toml").write_bytes(b"\xff\xfe")
    assert "is not UTF-8 text" in run("sheet", "check", "ours.toml", code=4).stderr
    assert "No such file" in run("rules", "blokus-dice", "--option", "sheet=none.toml", code=8).stderr
    Path("faulty.toml").write_text("", encoding="utf-8")
    said = run("rules", "blokus-dice", "--option", "sheet=faulty.toml", code=4).stderr
    assert "option sheet is the file faulty.toml, which has faults" in said


def test_a_game_without_a_sheet_file_names_those_with_one(run):
    assert "Deblockle has no sheet file; these have: blokus-dice, number-drop" in run(
        "sheet", "show", "--game", "deblockle", code=2
    ).stderr  # fmt: skip


def test_a_sheet_file_is_accepted_wherever_options_are(run):
    game, ours = load("blokus-dice"), written(("strikes = 3", "strikes = 1"))
    value = with_sheet_file(game, {"sheet": ours, "players": 2})
    assert value == {"sheet": game.rules.new(value).options.sheet.text, "players": 2}
    assert table_options(game, {"sheet": ours}) == {"sheet": value["sheet"]}
    assert with_sheet_file(game, {"sheet": "house"}) == {"sheet": "house"}
    assert with_sheet_file(game, {"players": 2}) == {"players": 2}
    assert with_sheet_file(load("deblockle"), {"net": "ours.toml"}) == {"net": "ours.toml"}
    long = f"{value['sheet']}/" + "x" * 5000
    assert with_sheet_file(game, {"sheet": long}) == {"sheet": long}
    Path("ours.toml").rename("ours")
    assert with_sheet_file(game, {"sheet": "ours"}) == {"sheet": value["sheet"]}
    written(("strikes = 3", "strikes = x"))
    with pytest.raises(OptionError, match="which has faults"):
        table_options(game, {"sheet": ours})


def test_a_sheet_file_in_the_settings_is_printed(run):
    ours = written(('"10x10"', '"8x6"'), ("blocked = []", 'blocked = ["b2", "e4"]'))
    run("print", "sheet", "blokus-dice", "--option", f"sheet={ours}", "--out", "typed.pdf")
    Path("referee.toml").write_text(f'[game]\nname = "blokus-dice"\n[game.options]\nsheet = "{ours}"\n')
    run("print", "sheet", "blokus-dice", "--out", "set.pdf")
    assert Path("set.pdf").read_bytes() == Path("typed.pdf").read_bytes()


def parts(*changes: tuple[str, str]) -> str:
    """Write ``parts.json``: Number Drop's default file with these changes."""
    text = present(load("number-drop").sheet_file).text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path("parts.json").write_text(text, encoding="utf-8")
    return "parts.json"


def test_dice_and_tiles_of_number_drop_are_checked_and_shown(run):
    of_it = ("--game", "number-drop")
    assert run("sheet", "new", *of_it).output == present(load("number-drop").sheet_file).text()
    advice = run("sheet", "new", *of_it, "--output", "copy.json").output.partition("referee ")[2]
    assert run(*advice.split()).output.startswith("copy.json is good for number-drop")
    shown = run("sheet", "show", *of_it).output
    assert "die 1: 1 * 3 4 5 7\n" in shown
    assert "shape die: I O T L S *" in shown
    assert "O4      U5\n■■      ■ ■\n■■      ■■■\n" in shown
    swapped = (('"other": "V3"', '"other": "?"'), ('"other": "X5"', '"other": "V3"'), ('"?"', '"X5"'))
    ours = parts(('"1*3457"', '"123457"'), *swapped)
    said = run("sheet", "check", ours, *of_it).output
    dice, backs = "dice=123457/12*456/234*67/123567/IOTLS*", "tile_backs=X5,I3,U5,V3,T5"
    assert said == f"parts.json is good for number-drop: --option '{dice}' --option {backs}\n"
    assert backs in run("rules", "number-drop", "--option", dice, "--option", backs).output


def test_faults_of_dice_and_tiles_are_named(run):
    said = run("sheet", "check", parts(('"XX/XX"', '"XX/X."')), "--game", "number-drop", code=4).stderr
    assert "the shape of O must have four" in said
