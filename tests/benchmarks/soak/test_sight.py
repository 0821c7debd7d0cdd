"""Visibility of the virtual table's places and side faces, by geometry."""

from __future__ import annotations

from benchmarks.faults.table import faulty_setting
from benchmarks.parts.soak.inputs import covered_places, sides_in_plain_view
from simulator.scene.scene import ForeignObject, looking_at
from vision.geometry import CubeSolid
from vision.layout.pieces import BlockPieces


def test_which_places_an_object_covers_and_which_sides_are_visible() -> None:
    setting = faulty_setting(3, (1280, 720))
    layout = setting.layout
    x_mm, y_mm = layout.centre_mm("c3")
    assert "c3" in covered_places(
        setting, setting.pose, (ForeignObject("coin", x_mm, y_mm, base_mm=layout.board.height_mm),)
    )
    assert covered_places(setting, setting.pose, (ForeignObject("coin", 300.0, 300.0),)) == set()

    above = looking_at(700.0, 0.1, -90.0, 0.0)
    card = ForeignObject("card", x_mm, y_mm, base_mm=layout.board.height_mm, radius_mm=1.4 * layout.board.cell_mm)
    covered = covered_places(setting, above, (card,))
    # A card is a rectangle, wider than deep.
    assert {"a3", "c3", "e3", "b2", "d4"} <= covered
    assert not {"c1", "c5"} & covered

    oblique = looking_at(600.0, 45.0, -90.0, 0.0)
    solids = {
        place: CubeSolid(*layout.centre_mm(place), layout.board.height_mm, BlockPieces.on(layout.board).side_mm)
        for place in ("d4", "d3")
    }
    assert sides_in_plain_view(setting, oblique, {"d4": solids["d4"]}, "d4") == ["south"]
    assert sides_in_plain_view(setting, oblique, solids, "d4") == []
    assert sides_in_plain_view(setting, oblique, solids, "d3") == ["south"]
