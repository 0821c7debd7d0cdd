"""Visibility of a surface: out of the picture, behind pieces, and under objects."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.scene.scene import looking_at
from vision.frame import BoolImage
from vision.geometry import CameraModel, CubeSolid, Pose
from vision.layout.pieces import GridSurface
from vision.layout.table import default_layout
from vision.reading import HindranceKind
from vision.surface import occlusion
from vision.surface.occlusion import HiddenPlaces, HiddenSettings, Occlusion
from vision.surface.view import PIECE_MARGIN_MM, SurfaceSampler, view_window

BOARD = default_layout("deblockle").board
ABOVE = Pose(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 1000.0]))
"""A camera straight above the board's middle."""


@pytest.fixture
def sampler(camera: CameraModel) -> SurfaceSampler:
    return SurfaceSampler(camera, ABOVE, BOARD)


def test_a_window_shows_a_surface_with_a_margin_in_millimetres() -> None:
    assert view_window(BOARD).shape == (280, 280)
    wider = view_window(BOARD, 15.0)
    assert (wider.shape, wider.left_mm, wider.far_mm, wider.height_mm) == ((310, 310), -155.0, 155.0, BOARD.height_mm)


def test_a_point_above_the_surface_hides_the_surface_behind_it(sampler: SurfaceSampler) -> None:
    on_board, above = [50.0, 40.0, BOARD.height_mm], [50.0, 40.0, 505.0]
    columns, rows = sampler.seen_at(np.array([on_board, above]))
    assert (columns[0], rows[0]) == pytest.approx(sampler.window.to_pixels(50.0, 40.0))
    assert (columns[1], rows[1]) == pytest.approx(sampler.window.to_pixels(100.0, 80.0))


def test_a_piece_hides_a_little_more_than_its_outline(sampler: SurfaceSampler) -> None:
    cube = CubeSolid(0.0, 0.0, BOARD.height_mm, 30.0)
    image = np.zeros((sampler.window.shape[0], 10, 3), dtype=np.uint8)
    hidden = sampler.view(image, [cube]).hidden_by_pieces
    side = cube.grown(PIECE_MARGIN_MM).side_mm * 990 / (990 - 37)
    assert hidden.sum() == pytest.approx(side**2, rel=0.12)
    assert hidden[140, 140]
    assert not hidden[140, 140 + round(side / 2) + 2]
    assert not sampler.view(image, []).hidden_by_pieces.any()
    assert sampler.hidden_outlines([]) == []


def test_what_pieces_hide_does_not_depend_on_earlier_pictures(camera: CameraModel, sampler: SurfaceSampler) -> None:
    image = np.zeros((sampler.window.shape[0], 10, 3), dtype=np.uint8)
    stays, before, after = (CubeSolid(x, 40.0, BOARD.height_mm, 30.0) for x in (-80.0, 0.0, 80.0))
    for cubes in ([stays, before], [after, stays], [after], [], [before]):
        fresh = SurfaceSampler(camera, ABOVE, BOARD).view(image, cubes)
        assert np.array_equal(sampler.view(image, cubes).hidden_by_pieces, fresh.hidden_by_pieces)


@pytest.mark.parametrize("moved_mm", [(-500.0, 0.0), (450.0, 0.0), (0.0, 340.0), (0.0, -340.0)])
def test_areas_out_of_the_picture_are_outside(camera: CameraModel, moved_mm: tuple[float, float]) -> None:
    aside = replace(ABOVE, translation=np.array([*moved_mm, 1000.0]))
    view = SurfaceSampler(camera, aside, BOARD).view(np.zeros((9, 9, 3), dtype=np.uint8), [])
    x, y = view.pixel_map[..., 0], view.pixel_map[..., 1]
    within = (x >= 0) & (x <= camera.size[0] - 1) & (y >= 0) & (y <= camera.size[1] - 1)
    assert np.array_equal(view.outside, ~within)
    assert 0 < view.outside.sum() < view.outside.size


def test_what_a_lens_model_folds_back_into_the_picture_is_outside(camera: CameraModel) -> None:
    # far off the axis this lens turns back: without a limit, squares beyond the picture appear in it
    folding = replace(camera, distortion=np.array([0.1, -0.25, 0.0, 0.0, 0.0]))
    straight = replace(camera, distortion=np.zeros(5))
    low = looking_at(200.0, 45.0)
    views = [SurfaceSampler(one, low, BOARD) for one in (folding, straight)]
    folded, true = (view.outside for view in views)
    assert true.any()
    assert (folded & true).sum() > 0.95 * true.sum()


def test_what_lies_behind_the_camera_is_outside(camera: CameraModel) -> None:
    behind = replace(ABOVE, translation=np.array([0.0, 0.0, -1000.0]))
    assert SurfaceSampler(camera, behind, BOARD).outside.all()


def covering(sampler: SurfaceSampler, place: str, share: float) -> Occlusion:
    """A card over the left part of one square."""
    corners = np.array(BOARD.outline_mm(place))
    left, bottom = sampler.window.to_pixels(*corners[0])
    right, top = sampler.window.to_pixels(*corners[2])
    pixels: BoolImage = np.zeros(sampler.window.shape, dtype=np.bool_)
    pixels[round(top) : round(bottom), round(left) : round(left + share * (right - left))] = True
    return Occlusion(HindranceKind.OBJECT, pixels, float(pixels.sum()))


def hidden_by(
    places: HiddenPlaces, coverings: list[Occlusion], clear: dict[str, bool] | None = None
) -> dict[str, HindranceKind]:
    """The hidden places of a board on which nothing is detected but what ``clear`` names, which has no body."""
    return places.hidden(coverings, clear or {}, {}, np.zeros((9, 9), dtype=np.bool_))


@pytest.mark.parametrize("place", ["d4", "c5"])
@pytest.mark.parametrize(("share", "is_hidden"), [(0.04, False), (0.3, True), (1.0, True)])
def test_a_place_is_hidden_if_enough_of_its_piece_would_be(
    sampler: SurfaceSampler, place: str, share: float, is_hidden: bool
) -> None:
    hidden = hidden_by(HiddenPlaces(BOARD, sampler), [covering(sampler, place, share)])
    assert hidden.get(place) == (HindranceKind.OBJECT if is_hidden else None)
    assert "a1" not in hidden


def test_hiding_a_clearly_seen_sign_takes_a_larger_covering(sampler: SurfaceSampler) -> None:
    places = HiddenPlaces(BOARD, sampler)
    third = [covering(sampler, "d4", 0.33)]
    assert "d4" in hidden_by(places, third, {"d4": False})
    assert "d4" not in hidden_by(places, third, {"d4": True})
    assert "d4" in hidden_by(places, [covering(sampler, "d4", 0.6)], {"d4": True})
    assert hidden_by(places, []) == {}


@pytest.mark.parametrize("is_clear", [False, True])
@pytest.mark.parametrize("place", ["d4", "b2", "f6"])
def test_a_piece_that_a_covering_touches_is_hidden(sampler: SurfaceSampler, place: str, is_clear: bool) -> None:
    solid = CubeSolid(*BOARD.centre_mm(place), BOARD.height_mm, 28.0)
    pieces = sampler.view(np.zeros((9, 9, 3), dtype=np.uint8), [solid]).hidden_by_pieces
    across, _ = sampler.window.to_pixels(np.array([solid.x_mm]), np.array([solid.y_mm]))
    columns = np.arange(pieces.shape[1])
    for beside, is_hidden in ((columns < across[0], True), (columns < across[0] - 60, False)):
        # the piece's own pixels are never a covering's
        thing = np.broadcast_to(beside, pieces.shape) & ~pieces
        occlusion_beside = Occlusion(HindranceKind.OBJECT, thing, float(thing.sum()))
        hidden = HiddenPlaces(BOARD, sampler).hidden([occlusion_beside], {place: is_clear}, {place: solid}, pieces)
        assert (place in hidden) is is_hidden


@pytest.mark.parametrize("place", ["d4", "b6", "f3"])
def test_a_bare_square_is_hidden_by_the_covered_share_of_its_area(
    sampler: SurfaceSampler, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flat = GridSurface("sheet", columns=7, rows=7, cell_mm=40.0, height_mm=BOARD.height_mm)
    settings = HiddenSettings(hidden_share=0.9, hidden_square_share=0.3)
    monkeypatch.setattr(occlusion, "_HIDDEN_SETTINGS", settings)
    places = HiddenPlaces(flat, sampler)
    assert hidden_by(places, [covering(sampler, place, 0.25)]) == {}
    assert hidden_by(places, [covering(sampler, place, 0.36)]) == {place: HindranceKind.OBJECT}
