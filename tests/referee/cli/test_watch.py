"""``referee watch`` and its options."""

from pathlib import Path

import click
import cv2
import pytest

from referee.cli.context import SettingOption
from referee.cli.watch import demo_command, watch_command
from referee.settings.settings import Settings
from tests.commands import Run


@pytest.mark.parametrize("command", [watch_command, demo_command], ids=["watch", "demo"])
def test_an_option_that_overrides_a_setting_takes_the_same_values(command: click.Command) -> None:
    sections = Settings.model_json_schema()["$defs"]
    options = [option for option in command.params if isinstance(option, SettingOption)]
    assert len(options) >= 6
    for option in options:
        section, _, key = option.setting.partition(".")
        taken = sections[type(getattr(Settings(), section)).__name__]["properties"][key]
        match option.type:
            case click.Choice() as choice:
                assert set(choice.choices) == set(taken["enum"]), option.opts
            case click.IntRange() | click.FloatRange() as limits:
                assert (limits.min, limits.max) == (taken["minimum"], taken.get("maximum")), option.opts


def test_watch_without_a_calibration_says_what_to_do(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    cv2.imwrite(str(tmp_path / "pictures/0.png"), cv2.UMat(72, 128, cv2.CV_8UC3).get())
    result = run("watch", "--frames", "pictures")
    assert result.exit_code == 5
    assert "referee hardware calibrate" in result.output


def test_watch_takes_one_source(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    result = run("watch", "--frames", "pictures", "--camera", "0")
    assert result.exit_code == 2
    assert "give one of them" in result.output


@pytest.mark.parametrize(
    ("still", "code", "message"),
    [("still.pdf", 2, "should end in .png or .jpg"), ("nowhere/still.png", 8, "there is no folder")],
)
def test_a_demo_checks_first_that_its_still_can_be_a_picture(run: Run, still: str, code: int, message: str) -> None:
    result = run("demo", "--fast", "--turns", "1", "--still", still)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_a_demo_is_played_whole_or_for_some_turns(run: Run) -> None:
    result = run("demo", "--whole", "--turns", "3")
    assert result.exit_code == 2
    assert "--whole plays to the end, --turns stops before it" in result.output


def test_a_camera_excludes_sensors_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sensors.toml").write_text("switches = 1\n[places]\na1 = 0\n")
    (tmp_path / "referee.toml").write_text('[sensors]\nsource = "board"\nmap = "sensors.toml"\n')
    result = run("watch", "--camera", "0", "--eyes", "sensors")
    assert result.exit_code == 2
    assert "the eyes are sensors alone" in result.output


def test_missing_sensor_settings_are_named_before_anything_is_opened(run: Run, tmp_path: Path) -> None:
    result = run("watch", "--eyes", "sensors")
    assert result.exit_code == 3
    assert "--eyes: sensors.eyes: it is 'sensors', but sensors.source is none" in result.output
    assert "`referee hardware sensors map` makes one" in result.output
    assert not (tmp_path / "journal.sqlite").exists()


def test_recorded_pictures_are_read_without_sensors(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "referee.toml").write_text('[sensors]\neyes = "both"\n')
    refused = run("watch", "--frames", "pictures", "--eyes", "both")
    assert refused.exit_code == 2
    assert "switches say nothing of pictures" in refused.output
    result = run("watch", "--frames", "pictures")
    assert "sensors" not in result.output
    assert "sees a table only through a calibrated camera" in result.output
