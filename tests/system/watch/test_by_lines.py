"""Watching pictures of a table without markers, as a person would."""

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from app.runtime.watch import WatchOptions
from tests.system.watch.test_pictures import changed, options, table_folder, watched
from vision.images import load_image

__all__ = ["options", "table_folder"]


def test_without_markers_set_up_and_game_decide_the_orientation(
    options: WatchOptions, table_folder: Path, tmp_path: Path
) -> None:
    by_lines = changed(options, {"table.markers": "none"})
    code, output = watched(by_lines)
    assert code == 0, output
    assert "1 turn accepted" in output

    # seen from the other side, as after a restart: what is believed to stand there tells it
    camera = json.loads((table_folder / "camera.json").read_text())
    camera["matrix"][0][2] = camera["size"][0] - 1 - camera["matrix"][0][2]
    camera["matrix"][1][2] = camera["size"][1] - 1 - camera["matrix"][1][2]
    turned = tmp_path / "turned"
    turned.mkdir()
    (tmp_path / "turned.json").write_text(json.dumps(camera))
    picture = load_image(table_folder / "pictures" / "002.png")
    cv2.imwrite(str(turned / "000.png"), np.rot90(picture, 2))
    code, output = watched(replace(changed(by_lines, {"camera.calibration": tmp_path / "turned.json"}), frames=turned))
    assert "unchanged" in output
