"""The disc reader's certainty on drawn pictures, and changes that must leave its answer unchanged."""

import math
import weakref
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.effort import some
from tests.vision.readers.discs import drawn
from tests.vision.readers.discs.drawn import (
    BOARD,
    CAMERA,
    DARK,
    GROUND,
    PALE,
    PIECES,
    Drawn,
    Light,
    encoded,
    finder_from,
    picture_of,
    seen_from,
    view_of,
)
from vision.frame import Image
from vision.geometry import Pose, project
from vision.readers.discs.finder import BallEvidence
from vision.readers.discs.lighting import (
    DARK_FLOOR,
    USUAL_PAPER,
    ColourClassifier,
    DiscAppearance,
    DiscColours,
    colour_of_shares,
    shares_of,
)
from vision.readers.discs.reader import DiscReader, DiscSighting

POSE = seen_from()
RED = (0.06, 0.09, 0.45)
BLUE = (0.45, 0.15, 0.07)


def colour(light: Sequence[float]) -> np.ndarray:
    return colour_of_shares(np.array(light) + DARK_FLOOR)


LOOKS = DiscAppearance(
    {
        "red": DiscColours(colour(RED), colour(DARK)),
        "blue": DiscColours(colour(BLUE), colour(PALE)),
        "white": DiscColours(colour(PALE), colour(RED)),
    }
)
STANDING = (
    Drawn("a1", RED),
    Drawn("b1", RED),
    Drawn("d1", RED, ball=DARK),
    Drawn("g2", RED, (4.0, 3.0)),
    Drawn("c4", BLUE),
    Drawn("e5", BLUE, (-3.0, 5.0)),
    Drawn("d7", BLUE, ball=PALE),
    Drawn("f7", BLUE),
)


def read(discs: Sequence[Drawn] = STANDING, pose: Pose = POSE, *, lamp: float = 1.0) -> dict[str, DiscSighting]:
    return seen_in(picture_of(discs, pose, lamp=lamp), pose)


def seen_in(image: Image, pose: Pose = POSE) -> dict[str, DiscSighting]:
    return DiscReader(BOARD, LOOKS).read(view_of(image, pose), BOARD.places, {})


def told(seen: dict[str, DiscSighting]) -> dict[str, tuple[str | None, bool]]:
    """The owner of each disc, and whether it has a ball."""
    return {place: (one.player, one.ball_log_odds > 0) for place, one in seen.items() if one.log_odds > 0}


TRUTH = {disc.place: ("red" if disc.light == RED else "blue", disc.ball is not None) for disc in STANDING}


@pytest.fixture(scope="module")
def seen() -> dict[str, DiscSighting]:
    return read()


def test_every_disc_and_ball_is_seen_clearly_and_nothing_else(seen: dict[str, DiscSighting]) -> None:
    assert told(seen) == TRUTH
    for place in TRUTH:
        assert seen[place].is_clear
        assert abs(seen[place].ball_log_odds) > 2.5


@pytest.mark.parametrize("azimuth_deg", [15.0, 105.0, 195.0])
def test_the_answer_is_the_same_from_every_side_of_the_table(azimuth_deg: float) -> None:
    assert told(read(pose=seen_from(azimuth_deg))) == TRUTH


@pytest.mark.parametrize("lamp", [0.5, 0.75, 1.4])
def test_the_answer_is_the_same_in_more_and_in_less_light(lamp: float) -> None:
    assert told(read(lamp=lamp)) == TRUTH


def test_probabilities_sum_to_one_and_agree_with_the_odds(seen: dict[str, DiscSighting]) -> None:
    for place, (player, ball) in TRUTH.items():
        shares = seen[place].look_probabilities()
        assert sum(shares.values()) == pytest.approx(1.0)
        assert min(shares.values()) > 0
        likeliest = max(shares, key=lambda look: shares[look])
        assert likeliest == f"{player} piece{' with ball' if ball else ''}"
        with_ball = sum(share for look, share in shares.items() if look.endswith("ball"))
        assert math.log(with_ball / (1 - with_ball)) == pytest.approx(seen[place].ball_log_odds, abs=1e-6)
        assert sum(share for look, share in shares.items() if not look.startswith(str(player))) >= 0.0004


def test_a_players_share_follows_from_the_likelihood_of_the_colour(seen: dict[str, DiscSighting]) -> None:
    one = replace(seen["a1"], colour_likelihood={"red": -1.0, "blue": -2.0}, ball_log_odds=0.0)
    shares = one.look_probabilities()
    assert set(shares.values()) == {shares["red piece"], shares["blue piece"]}
    assert shares["red piece"] / shares["blue piece"] == pytest.approx(math.e, rel=0.01)


def test_odds_have_limits(seen: dict[str, DiscSighting]) -> None:
    for one in seen.values():
        assert -12.0 <= one.ball_log_odds <= 12.0
        assert -40 < one.log_odds < 25


def test_the_solid_has_the_height_of_the_piece(seen: dict[str, DiscSighting]) -> None:
    for place, (_, ball) in TRUTH.items():
        solid = seen[place].solid
        assert solid is not None
        assert solid.height_mm == (PIECES.height_mm if ball else PIECES.disc_mm)
        assert solid.base_mm == BOARD.height_mm
        assert (solid.x_mm, solid.y_mm) == tuple(seen[place].fit.centre_mm)


def test_a_disc_of_an_unknown_colour_belongs_to_no_player(seen: dict[str, DiscSighting]) -> None:
    # in bad light it may be one of theirs, so its square is not surely empty
    assert -1.0 < read([Drawn("d4", (0.1, 0.7, 0.1)), *STANDING])["d4"].log_odds <= 0.0
    pale = read([Drawn("d4", (0.18, 0.25, 0.6)), *STANDING])
    orange = read([Drawn("d4", (0.06, 0.12, 0.5)), *STANDING])
    assert pale["d4"].log_odds < orange["d4"].log_odds < seen["a1"].log_odds + 0.5
    assert told(orange)["d4"] == ("red", False)


def test_a_disc_between_two_places_is_doubted_more() -> None:
    centred, aside, between = (
        read([*STANDING[2:], Drawn("b3", RED, off)])["b3"].log_odds for off in ((0, 0), (5, 4), (9, 4.5))
    )
    assert aside == pytest.approx(centred, abs=1.5)
    assert between < centred - 0.8


def test_a_disc_that_hardly_differs_from_the_table_is_less_sure() -> None:
    odds = []
    for share in (1.0, 0.3, 0.15):
        blue, green, red = share * np.array(RED) + (1 - share) * np.array([0.12, 0.2, 0.3])
        light = (blue, green, red)
        looks = DiscAppearance({"red": DiscColours(colour(light), colour(DARK))})
        image = picture_of([Drawn("d4", light), Drawn("b2", light)], POSE)
        found = DiscReader(BOARD, looks).read(view_of(image, POSE), BOARD.places, {})
        odds.append(found["d4"].log_odds if "d4" in found else -9.0)
    assert odds[0] > odds[1] > odds[2] + 1


def test_a_square_on_which_a_disc_would_not_stand_out_is_not_surely_empty() -> None:
    ground = tuple(1.03 * np.array(RED))
    nothing = [
        DiscReader(BOARD, LOOKS).read(view_of(picture_of((), POSE, ground=one), POSE), BOARD.places, {})
        for one in (ground, GROUND)
    ]
    assert all(-2 < nothing[0][place].log_odds <= 0 and nothing[0][place].solid is None for place in BOARD.places)
    assert not nothing[1]


def test_in_black_and_white_no_square_is_surely_empty_before_discs_are_seen() -> None:
    grey = cv2.cvtColor(cv2.cvtColor(picture_of((), POSE), cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    seen = DiscReader(BOARD, LOOKS).read(view_of(np.asarray(grey, dtype=np.uint8), POSE), BOARD.places, {})
    assert [seen[place].log_odds for place in BOARD.places] == [0.0] * len(BOARD.places)


def test_a_top_with_a_large_patch_of_a_foreign_colour_is_unlikely_to_be_a_disc(seen: dict[str, DiscSighting]) -> None:
    image = picture_of(STANDING, POSE)
    x, y = BOARD.centre_mm("c4")
    turns = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    rim = [[x + 8.0 * np.cos(turn), y + 8.0 * np.sin(turn), 20.0] for turn in turns]
    cv2.fillConvexPoly(image, np.round(project(CAMERA, POSE, rim)).astype(np.int32), (40, 220, 60))
    found = seen_in(image)
    assert found["c4"].log_odds < seen["c4"].log_odds - 8
    assert abs(found["c4"].ball_log_odds) < 0.5
    assert told({place: one for place, one in found.items() if place != "c4"}) == {
        place: what for place, what in TRUTH.items() if place != "c4"
    }


@pytest.mark.parametrize(("place", "light", "is_coin"), [("c4", PALE, True), ("e5", PALE, True), ("a1", DARK, False)])
def test_a_flat_spot_in_the_balls_colour_is_no_ball_unless_too_dark_to_tell(
    seen: dict[str, DiscSighting], place: str, light: tuple[float, float, float], is_coin: bool
) -> None:
    image = picture_of(STANDING, POSE)
    x, y = seen[place].fit.centre_mm
    turns = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    rim = [[x + 8.0 * np.cos(turn), y + 8.0 * np.sin(turn), 20.0] for turn in turns]
    cv2.fillConvexPoly(image, np.round(project(CAMERA, POSE, rim)).astype(np.int32), encoded(light).tolist())
    found = seen_in(image)
    assert (found[place].ball_log_odds < 0.5) == is_coin
    assert told({one: found[one] for one in TRUTH if one != place}) == {
        one: what for one, what in TRUTH.items() if one != place
    }


def test_a_ball_is_less_certain_where_it_and_its_disc_are_too_dark_to_show_shading() -> None:
    def odds(light: tuple[float, float, float]) -> float:
        looks = DiscAppearance({"dark": DiscColours(colour(light), colour(light))})
        image = picture_of([Drawn("d4", light, ball=light), *(Drawn(place, light) for place in ("a1", "g7"))], POSE)
        return DiscReader(BOARD, looks).read(view_of(image, POSE), BOARD.places, {})["d4"].ball_log_odds

    assert odds((0.02, 0.02, 0.02)) < odds((0.08, 0.08, 0.08)) - 1


def test_the_lack_of_a_ball_is_less_certain_where_the_disc_is_too_dark_to_show_shading() -> None:
    def odds(light: tuple[float, float, float]) -> float:
        looks = DiscAppearance({"dark": DiscColours(colour(light), colour(light))})
        image = picture_of([Drawn(place, light) for place in ("d4", "a1", "g7")], POSE)
        return DiscReader(BOARD, looks).read(view_of(image, POSE), BOARD.places, {})["d4"].ball_log_odds

    assert odds((0.05, 0.05, 0.05)) < -6
    assert -5 < odds((0.01, 0.01, 0.01)) < -1


def test_a_top_without_any_noise_is_no_evidence_of_a_disc(seen: dict[str, DiscSighting]) -> None:
    image = picture_of(STANDING, POSE)
    x, y = seen["c4"].fit.centre_mm
    turns = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    rim = [[x + 13.5 * np.cos(turn), y + 13.5 * np.sin(turn), 20.0] for turn in turns]
    cv2.fillConvexPoly(image, np.round(project(CAMERA, POSE, rim)).astype(np.int32), encoded(BLUE).tolist())
    flat = seen_in(image)["c4"]
    assert flat.ball.unevenness < 0.003
    assert flat.log_odds < seen["c4"].log_odds - 2
    assert flat.log_odds > 0


def test_only_requested_places_are_read_including_dark_discs(seen: dict[str, DiscSighting]) -> None:
    reader = DiscReader(BOARD, LOOKS)
    view = view_of(picture_of([disc for disc in STANDING if disc.place != "a1"], POSE), POSE)
    again = reader.read(view, ["c4"], seen)
    assert again["a1"] is seen["a1"]
    assert again["c4"] is not seen["c4"]
    assert "a1" not in told(reader.read(view, ["a1"], seen))
    night = DiscReader(BOARD, DiscAppearance({"black": DiscColours(colour(DARK), colour(PALE))}))
    dark = view_of(picture_of([Drawn("a1", DARK), Drawn("g1", DARK)], POSE), POSE)
    before = night.read(dark, BOARD.places, {})
    assert night.read(dark, ["g1"], before)["a1"] is not before["a1"], "a ball on it would hardly show"


@pytest.mark.parametrize("ball", [None, DARK])
def test_a_disc_right_behind_another_is_read_by_its_visible_part(ball: tuple[float, float, float] | None) -> None:
    pose = seen_from(-90.0, 55.0)
    discs = [Drawn("d3", RED, (0.0, 7.0), ball), Drawn("d4", BLUE, (0.0, -6.0)), Drawn("b4", BLUE), Drawn("f3", RED)]
    assert told(read(discs, pose)) == {
        "d3": ("red", ball is not None),
        "d4": ("blue", False),
        "b4": ("blue", False),
        "f3": ("red", False),
    }


@pytest.mark.parametrize("ball", [None, DARK])
def test_a_disc_mostly_hidden_behind_a_nearer_one_may_have_a_ball(ball: tuple[float, float, float] | None) -> None:
    pose = seen_from(-90.0, 70.0)
    discs = [Drawn("d3", BLUE, (0.0, 10.0), DARK), Drawn("d4", RED, (0.0, -10.0), ball), Drawn("b4", RED)]
    one = read(discs, pose)["d4"]
    assert one.log_odds > 2
    assert not one.ball.is_seen
    assert one.ball_log_odds == -1.2
    looks = one.look_probabilities()
    assert looks["red piece with ball"] == pytest.approx(looks["red piece"] * math.exp(-1.2))


@pytest.mark.parametrize("ball", [None, RED, DARK])
def test_a_large_ball_seen_from_straight_above_hides_too_much_of_its_disc_to_be_denied(
    ball: tuple[float, float, float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = replace(PIECES, ball_mm=19.0)
    monkeypatch.setattr(drawn, "PIECES", large)
    board, pose = replace(BOARD, pieces=large), seen_from(tilt_deg=0.0)
    image = picture_of([Drawn("d4", RED, ball=ball), Drawn("a1", RED), Drawn("g7", RED, ball=DARK)], pose)
    seen = DiscReader(board, LOOKS).read(replace(view_of(image, pose), surface=board), board.places, {})
    assert seen["d4"].ball_log_odds == -1.2
    contrast = min(seen["d4"].fit.contrast_if_bare, 6.0)
    assert seen["d4"].log_odds == pytest.approx(3.0 * (contrast - 2.2), abs=0.01), "its top is neither even nor uneven"
    assert seen["a1"].ball_log_odds < -8
    assert seen["g7"].ball_log_odds > 8


def test_a_disc_whose_top_is_hidden_does_not_tell_how_even_its_owners_others_are(seen: dict[str, DiscSighting]) -> None:
    hidden = replace(seen["g2"], ball=BallEvidence(0.0, 0.0, seen["g2"].ball.colour, np.empty((0, 3))))
    reader, view = DiscReader(BOARD, LOOKS), view_of(picture_of(STANDING, POSE), POSE)
    with_hidden, without = (
        reader.read(view, ["d1"], known)["d1"]
        for known in (seen | {"g2": hidden}, {place: one for place, one in seen.items() if place != "g2"})
    )
    assert with_hidden.ball_log_odds == without.ball_log_odds


def test_a_disc_that_reflects_a_lamp_is_judged_as_the_piece_that_it_likeliest_is() -> None:
    """Its colour is nearer to that of the paler player."""
    light: dict[str, Light] = {"black": (0.03, 0.03, 0.03), "white": (0.85, 0.85, 0.85)}
    plain = [Drawn(place, light["black"]) for place in ("a1", "c2", "e1", "f2", "c7", "g7")]
    plain += [Drawn(place, light["white"]) for place in ("c1", "g1", "a7", "e7")]
    # beside others that reflect none, so no lamp shines on all of them
    glossy = [Drawn(place, (level,) * 3) for place, level in (("b1", 0.2), ("d1", 0.24), ("f1", 0.28), ("d7", 0.32))]
    view = view_of(picture_of([*plain, *glossy], POSE), POSE)

    def found(black_ball: Light) -> dict[str, DiscSighting]:
        players = {"black": DiscColours(colour(light["black"]), colour(black_ball))}
        players["white"] = DiscColours(colour(light["white"]), colour(RED))
        return DiscReader(BOARD, DiscAppearance(players)).read(view, BOARD.places, {})

    seen = found(black_ball=RED)
    one = seen["b1"]
    assert one.colour_distance["white"] < one.colour_distance["black"]
    assert one.colour_likelihood["white"] < one.colour_likelihood["black"]
    assert one.player == "black"
    assert one.log_odds > 5
    assert found(black_ball=(0.2, 0.2, 0.2))["b1"].ball_log_odds > one.ball_log_odds + 1, "it looks like black's ball"
    for place, other in seen.items():
        chances = other.look_probabilities()
        assert max(chances, key=lambda look: chances[look]).split()[0] == other.player, place


def test_a_reader_keeps_no_picture() -> None:
    reader, view = DiscReader(BOARD, LOOKS), view_of(picture_of(STANDING, POSE), POSE)
    picture = weakref.ref(view.image)
    reader.read(view, BOARD.places, {})
    del view
    assert picture() is None


def expected_odds(seen: dict[str, DiscSighting], place: str, light: float) -> tuple[float, float]:
    """The odds of one disc and of its ball, computed from its circle, its top, and the owner's other discs."""
    one = seen[place]

    def by_outline(at: str, sighting: DiscSighting, contrast: float) -> float:
        far = max(0.0, math.dist(sighting.fit.centre_mm, BOARD.centre_mm(at)) - 7.5)
        strange = min(26.0, 0.9 * max(0.0, min(sighting.colour_distance.values(), default=0.0) - 1.5) ** 2)
        return 3.0 * (min(contrast, 6.0) - 2.2) - strange - far

    others = [
        other.ball.unevenness
        for at, other in seen.items()
        if other is not one
        and other.ball.is_seen
        and other.player == one.player
        and (by_outline(at, other, other.fit.contrast) > 0 or by_outline(place, one, one.fit.contrast) <= 0)
    ]
    usual = max(0.06, float(np.median([*others, 0.13, 0.13, 0.13])))
    offs = [math.log(max(other, 0.06) / usual) for other in others]
    spread = math.sqrt((3 * 0.65**2 + sum(each**2 for each in offs)) / (3 + len(offs)))
    plain = math.log(one.ball.unevenness / usual) / min(0.65, max(0.35, spread))
    carried = math.log(one.ball.unevenness / 1.8) / 0.85
    ball = -1.2 + 0.5 * (max(0.0, plain) ** 2 - min(0.0, carried) ** 2)
    by_colour = foreign = 0.0
    if one.player is not None:
        assert one.player == max(one.colour_likelihood, key=lambda player: one.colour_likelihood[player])
        own = LOOKS.players[one.player]
        lit = np.array([0.0, 0.0, light])
        as_disc, as_ball = (
            min(12.0, float((((one.ball.colour - look - lit) / 0.4) ** 2).sum())) for look in (own.disc, own.ball)
        )
        by_colour = 0.5 * (as_disc - as_ball)
        own = LOOKS.players[min(one.colour_distance, key=lambda player: one.colour_distance[player])]
        apart = [
            np.linalg.norm((one.ball.top - look - lit) / np.hypot(0.4, 0.15 * look * [1, 1, 0]), axis=1)
            for look in (own.disc, own.ball)
        ]
        strange = float((np.minimum(*apart) > 3.0).mean()) if len(one.ball.top) else 0.0
        foreign = min(26.0, 80.0 * max(0.0, strange - 0.15))
    ball = 12.0 * math.tanh((ball + by_colour) / 12.0) if one.ball.is_seen else -1.2
    lit_ball = float(np.median((shares_of(one.ball.colour) - DARK_FLOOR) * USUAL_PAPER))
    if ball > 0 and 0.026 < lit_ball < 0.93:
        ball *= min(1.0, max(0.0, 2 * one.ball.rounded / 0.025 - 1))
    ball *= max(0.0, 1 - foreign / 8.0)
    if ball < 0 and one.fit.light > 0.93:
        ball *= 0.25
    if ball > 0 and (max(one.fit.light, lit_ball) < 0.026 or min(one.fit.light, lit_ball) > 0.93):
        ball *= 0.75
    even = max(-2.0, min(1.5, math.log(0.15 / one.ball.unevenness)))
    if one.ball.unevenness < 0.003:
        even = -2.0
    if not one.ball.is_seen:
        even = 0.0
    there = by_outline(place, one, one.fit.contrast if ball > 0 else one.fit.contrast_if_bare)
    far = max(0.0, math.dist(one.fit.centre_mm, BOARD.centre_mm(place)) - 7.5)
    by_shape = min(0.0, 3.0 * (one.fit.contrast_if_bare - 2.9)) - far
    return max(there + even + 0.6 * max(0.0, ball) - foreign, by_shape), ball


ODD = (
    *STANDING,
    Drawn("b6", (0.18, 0.25, 0.6)),
    Drawn("e2", (0.06, 0.12, 0.5), (9.0, 4.5)),
    Drawn("f4", (0.5, 0.25, 0.15), (-8.5, 3.0), ball=DARK),
    Drawn("g5", BLUE, ball=RED),
    Drawn("b3", PALE),
)

EVEN = tuple(Drawn(f"{column}{row}", RED) for row in (2, 4) for column in "abcdefg")
"""With this many even discs of one player, a faint spot on one of them, d4, may be a ball."""


@pytest.mark.parametrize("lamp", some([0.6, 1.0, 2.6]))
@pytest.mark.parametrize("discs", [STANDING, ODD, EVEN])
def test_odds_are_computed_from_outline_colour_place_top_and_the_owners_other_discs(
    discs: Sequence[Drawn], lamp: float
) -> None:
    image = picture_of(discs, POSE, lamp=lamp)
    turns = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    spot = tuple(encoded(1.1 * lamp * np.array(RED)).tolist())
    for radius_mm, place, ink in ((4.6, "b1", (40, 220, 60)), (8.0, "e5", (40, 220, 60)), (3.0, "d4", spot)):
        x, y = BOARD.centre_mm(place)
        rim = [[x + radius_mm * np.cos(turn), y + radius_mm * np.sin(turn), 20.0] for turn in turns]
        cv2.fillConvexPoly(image, np.round(project(CAMERA, POSE, rim)).astype(np.int32), ink)
    view = view_of(image, POSE)
    seen = DiscReader(BOARD, LOOKS).read(view, BOARD.places, {})
    finder = finder_from(POSE)
    plane = finder.plane(image, BOARD.places)
    judge = ColourClassifier({player: colours.disc for player, colours in LOOKS.players.items()})
    fits = finder.find(plane, list(BOARD.places))
    light = judge.fit_light([fit.colour for fit in fits.values() if fit.contrast > 3.5], plane.paper)[0]
    assert len(seen) >= len(discs) - 1
    for place, one in seen.items():
        log_odds, ball_log_odds = expected_odds(seen, place, light)
        assert one.log_odds == pytest.approx(log_odds, abs=0.01), place
        assert one.ball_log_odds == pytest.approx(ball_log_odds, abs=0.01), place


def test_discs_of_a_set_without_colours_are_found_without_an_owner() -> None:
    found = DiscReader(BOARD, DiscAppearance({})).read(view_of(picture_of(ODD, POSE), POSE), BOARD.places, {})
    assert {place for place, one in found.items() if one.log_odds > 0} > set(TRUTH)
    for place, one in found.items():
        assert one.player is None
        assert one.look_probabilities() == {}
        assert (one.log_odds, one.ball_log_odds) == pytest.approx(expected_odds(found, place, 0.0), abs=0.01), place
