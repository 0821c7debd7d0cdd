"""Blocks, discs with balls, and stacks of pyramids, as the camera sees them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from simulator.rendering import optics, painting
from simulator.rendering.textures import BLOCK_FACE_PX, face_texture
from simulator.scene.cube import Face, placed_faces, rotation_of, tip_rotation, turn_rotation
from simulator.scene.pieces import BallPose, BlockPose, Colour, DiscPose, Pyramid, StackPose
from simulator.scene.scene import Setting
from vision.frame import FloatArray, Image
from vision.geometry import project
from vision.layout.pieces import BlockPieces, DiscPieces, PyramidPieces

UNIT_SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) / 2
"""Corners of a square with side 1 about the origin, anticlockwise."""
_BACK_SHARE = 0.5
"""Opacity of a translucent body's far side, over that of its near side."""


@dataclass(frozen=True, eq=False)
class Body:
    """A convex body: facets (n, 4, 3) and their unit normals (n, 3). A triangle repeats its last corner.

    ``gloss`` scales specular reflections; ``opacity`` is the share of the background that the body hides. ``edges``
    (m, 2, 3) are rounded: ``edge_mm`` wide, ``edge_light`` times as bright as the brightest visible facet. ``top``
    (k, 3) is a level polygon, on which a body above casts its shadow.
    """

    facets: FloatArray
    normals: FloatArray
    colour: Colour
    gloss: float
    opacity: float = 1.0
    edges: FloatArray = field(default_factory=lambda: np.zeros((0, 2, 3)))
    edge_mm: float = 0.0
    edge_light: float = 1.0
    top: FloatArray | None = None

    @property
    def corners_mm(self) -> FloatArray:
        """All corners, shape (4 n, 3)."""
        return self.facets.reshape(-1, 3)


def revolve(profile_mm: FloatArray, foot_mm: FloatArray, sides: int) -> tuple[FloatArray, FloatArray]:
    """Return facets and normals of a solid of revolution about the vertical axis through ``foot_mm`` (3,).

    ``profile_mm`` (n, 2) holds radii and heights above the foot, from the bottom to the top. If the last radius is more
    than 0, a level top closes the solid.
    """
    angles = np.linspace(0.0, 2 * np.pi, sides + 1)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.concatenate(
        [
            (profile_mm[:, None, :1] * circle[None]),
            np.broadcast_to(profile_mm[:, None, 1:], (len(profile_mm), sides + 1, 1)),
        ],
        axis=-1,
    )
    points = points + foot_mm
    if profile_mm[-1, 0] > 0:
        tip = np.broadcast_to(foot_mm + np.array([0.0, 0.0, profile_mm[-1, 1]]), (1, sides + 1, 3))
        points = np.concatenate([points, tip])
    facets = np.stack([points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]], axis=2).reshape(-1, 4, 3)
    return facets, normals_of(facets)


def frustum(below: FloatArray, above: FloatArray) -> FloatArray:
    """Return the four sides and the top, (5, 4, 3), between two squares (4, 3), anticlockwise seen from above."""
    sides = [np.stack([below[k], below[(k + 1) % 4], above[(k + 1) % 4], above[k]]) for k in range(4)]
    return np.stack([*sides, above])


def normals_of(facets: FloatArray) -> FloatArray:
    """Return the unit normals (n, 3) of facets (n, 4, 3) whose corners run anticlockwise seen from outside."""
    first, second = facets[:, 2] - facets[:, 0], facets[:, 3] - facets[:, 1]
    across = np.cross(first, second)
    return np.asarray(across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12), dtype=np.float64)


def bodies_sprite(setting: Setting, bodies: Sequence[Body], streak_mm: tuple[float, float]) -> painting.Sprite:
    """Draw bodies that stand on each other, lowest first, as the camera sees them."""
    corners = np.vstack([body.corners_mm for body in bodies])
    outline = project(setting.camera, setting.pose, corners)
    left, top, right, bottom = painting.box_around(outline, painting.MARGIN_PX)
    canvas = _Canvas(setting, (left, top), (right - left, bottom - top))
    for number, body in enumerate(bodies):
        above = bodies[number + 1].corners_mm if number + 1 < len(bodies) else None
        canvas.draw(body, above)
    image, cover = canvas.layers()
    return painting.with_motion_blur(setting, corners.mean(axis=0), streak_mm, left, top, image, cover)


class _Canvas:
    """A small supersampled picture: screen colours times coverage, and the coverage (0 to 1)."""

    def __init__(self, setting: Setting, origin_px: tuple[int, int], size_px: tuple[int, int]) -> None:
        self._setting = setting
        self._origin = np.asarray(origin_px, dtype=np.float64)
        self._size = size_px
        shape = (size_px[1] * painting.SAMPLES, size_px[0] * painting.SAMPLES)
        self._light = np.zeros((*shape, 3), dtype=np.float32)
        self._cover = np.zeros(shape, dtype=np.float32)

    def draw(self, body: Body, above_mm: FloatArray | None) -> None:
        """Draw a body over the earlier ones; the one above, with corners ``above_mm`` (n, 3), shades its top."""
        setting, camera_mm = self._setting, self._setting.pose.camera_position_mm
        centres = body.facets.mean(axis=1)
        is_near = np.sum((camera_mm - centres) * body.normals, axis=1) > 0
        middle = project(setting.camera, setting.pose, centres.mean(axis=0)[None])[0]
        gain = optics.sensor_gain(setting.sensor) * float(optics.vignette_at(setting.camera, setting.sensor, middle))
        normals = np.where(is_near[:, None], body.normals, -body.normals)
        shine = optics.specular(setting.lighting, centres, normals, camera_mm) * body.gloss
        linear = optics.decode(body.colour) * optics.irradiance(setting.lighting, centres, normals)
        values = optics.develop((linear + shine) * gain).astype(np.float64)
        pixels = self._pixels(body.corners_mm).reshape(-1, 4, 2)
        if body.opacity < 1:
            self._blend(*self._rasterised(pixels[~is_near], values[~is_near]), body.opacity * _BACK_SHARE)
        image, mask = self._rasterised(pixels[is_near], values[is_near])
        if len(body.edges):
            self._round_off(
                image, mask, body, is_near, optics.develop(linear[is_near].max(axis=0) * gain * body.edge_light)
            )
        if body.top is not None and above_mm is not None:
            self._shade(image, body.top, above_mm)
        self._blend(image, mask, body.opacity)

    def layers(self) -> tuple[Image, Image]:
        """Return the picture times alpha and the alpha mask (0 to 255), at the camera's resolution."""
        light = np.asarray(cv2.resize(self._light, self._size, interpolation=cv2.INTER_AREA))
        cover = np.asarray(cv2.resize(self._cover, self._size, interpolation=cv2.INTER_AREA))
        return np.rint(light).astype(np.uint8), np.rint(cover * 255).astype(np.uint8)

    def _pixels(self, points_mm: FloatArray) -> FloatArray:
        pixels = project(self._setting.camera, self._setting.pose, points_mm)
        return painting.supersampled(pixels - self._origin, painting.SAMPLES)

    def _rasterised(self, pixels: FloatArray, values: FloatArray) -> tuple[Image, Image]:
        """Return a picture of facets (n, 4, 2) in screen colours (n, 3), and their mask."""
        image = np.zeros(self._light.shape, dtype=np.uint8)
        mask = np.zeros(self._cover.shape, dtype=np.uint8)
        for corners, value in zip(painting.fixed_point(pixels), values, strict=True):
            cv2.fillConvexPoly(image, corners, value.tolist(), cv2.LINE_8, painting.SUBPIXEL_BITS)
            cv2.fillConvexPoly(mask, corners, 255, cv2.LINE_8, painting.SUBPIXEL_BITS)
        return image, mask

    def _blend(self, image: Image, mask: Image, opacity: float) -> None:
        """Lay an image over the canvas where the mask is."""
        share = mask.astype(np.float32) * np.float32(opacity / 255.0)
        self._light += share[..., None] * (image - self._light)
        self._cover += share * (1.0 - self._cover)

    def _round_off(self, image: Image, mask: Image, body: Body, is_near: npt.NDArray[np.bool_], value: Image) -> None:
        """Draw a body's visible edges in a screen colour (3,), in place; the lines are limited to the mask."""
        is_end = (body.edges[:, None, :, None] == body.facets[is_near][None, :, None]).all(axis=-1).any(axis=-1)
        edges = body.edges[is_end.all(axis=-1).any(axis=-1)]
        ends = self._pixels(edges.reshape(-1, 3)).reshape(-1, 2, 2)
        lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        scale = float(np.median(lengths / np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)))
        lines = image.copy()
        for start, end in painting.fixed_point(ends):
            thickness = max(round(body.edge_mm * scale), 1)
            cv2.line(lines, start, end, value.tolist(), thickness, cv2.LINE_AA, painting.SUBPIXEL_BITS)
        cv2.copyTo(cv2.addWeighted(lines, 0.6, image, 0.4, 0.0), mask, image)

    def _shade(self, image: Image, top_mm: FloatArray, above_mm: FloatArray) -> None:
        """Draw the shadows of the body above on a level top, in place."""
        setting, level_mm = self._setting, float(top_mm[0, 2])
        scale = float(np.ptp(self._pixels(top_mm), axis=0).max() / np.ptp(top_mm[:, :2], axis=0).max())
        shaded = image.copy()
        for lamp in setting.lighting.lamps:
            outline = painting.hull(self._pixels(optics.shadow_points(lamp, above_mm, level_mm)))
            height_mm = float(above_mm[:, 2].max()) - level_mm
            softness = max(optics.penumbra_mm(lamp, height_mm * 0.5) * scale, 0.7)
            table = optics.shade_table(optics.remaining_light(setting.lighting, lamp, top_mm.mean(axis=0)))
            painting.darken_in_shadow(shaded, outline, softness, table)
        on_top = np.zeros(image.shape[:2], dtype=np.uint8)
        cv2.fillConvexPoly(on_top, painting.fixed_point(self._pixels(top_mm)), 255, cv2.LINE_8, painting.SUBPIXEL_BITS)
        cv2.copyTo(shaded, on_top, image)


class BlockPainter:
    """Draws blocks of one setting."""

    def __init__(self, setting: Setting, shadows: painting.Shadows) -> None:
        self._setting = setting
        self._pieces = BlockPieces.on(setting.layout.board)
        self._shadows = shadows
        self._camera_mm = setting.pose.camera_position_mm
        self._textures: dict[tuple[str, str], Image] = {}

    def _texture(self, colour: str, symbol: str) -> Image:
        key = (colour, symbol)
        if key not in self._textures:
            self._textures[key] = face_texture(self._setting.blocks, colour, symbol, self._setting.table.seed)
        return self._textures[key]

    def _middle_mm(self, block: BlockPose) -> FloatArray:
        return np.array(
            [block.x_mm, block.y_mm, painting.base_height_mm(self._setting, block) + self._pieces.side_mm / 2]
        )

    def _faces(self, block: BlockPose) -> list[Face]:
        """Return the six faces of a block in the table's frame."""
        rotation = rotation_of(self._pieces.net, block.up, block.north)
        if block.tipped_towards is not None:
            rotation = tip_rotation(block.tipped_towards, block.tipped_deg) @ rotation
        rotation = turn_rotation(block.turned_deg) @ rotation
        return placed_faces(self._pieces.net, rotation, self._middle_mm(block), self._pieces.side_mm)

    def paint_shadows(self, image: Image, block: BlockPose) -> None:
        """Draw the block's shadows, in place."""
        corners = np.vstack([face.corners_mm for face in self._faces(block)[:2]])
        self._shadows.paint(image, corners, painting.shadow_ground_mm(self._setting, block))

    def sprite(self, block: BlockPose) -> painting.Sprite:
        """Draw one block as the camera sees it."""
        setting = self._setting
        faces = [face for face in self._faces(block) if float((self._camera_mm - face.centre_mm) @ face.normal) > 0]
        corners = project(setting.camera, setting.pose, np.vstack([face.corners_mm for face in faces]))
        left, top, right, bottom = painting.box_around(corners, painting.MARGIN_PX)
        width, height = right - left, bottom - top
        big = (width * painting.SAMPLES, height * painting.SAMPLES)
        image = np.zeros((big[1], big[0], 3), dtype=np.uint8)
        middle = corners.mean(axis=0)
        gain = optics.sensor_gain(setting.sensor) * float(optics.vignette_at(setting.camera, setting.sensor, middle))
        edge = BLOCK_FACE_PX - 0.5
        source = np.array([[-0.5, -0.5], [edge, -0.5], [edge, edge], [-0.5, edge]], dtype=np.float32)
        for index, face in enumerate(faces):
            light = optics.irradiance(setting.lighting, face.centre_mm, face.normal)
            shine = optics.specular(setting.lighting, face.centre_mm, face.normal, self._camera_mm)
            picture = cv2.LUT(self._texture(block.colour, face.symbol), optics.tone_table(light * gain, shine * gain))
            pixels = corners[index * 4 : index * 4 + 4]
            target = painting.supersampled(pixels - np.array([left, top]), painting.SAMPLES).astype(np.float32)
            warp = cv2.getPerspectiveTransform(source, target)
            warped = cv2.warpPerspective(picture, warp, big, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            mask = np.zeros((big[1], big[0]), dtype=np.uint8)
            cv2.fillConvexPoly(mask, painting.fixed_point(target), 255, cv2.LINE_8, painting.SUBPIXEL_BITS)
            cv2.copyTo(warped, mask, image)
        outline = painting.supersampled(painting.hull(corners) - np.array([left, top]), painting.SAMPLES)
        cover = np.zeros((big[1], big[0]), dtype=np.uint8)
        cv2.fillConvexPoly(cover, painting.fixed_point(outline), 255, cv2.LINE_8, painting.SUBPIXEL_BITS)
        small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
        small_cover = cv2.resize(cover, (width, height), interpolation=cv2.INTER_AREA)
        sprite, alpha = np.asarray(small, dtype=np.uint8), np.asarray(small_cover, dtype=np.uint8)
        return painting.with_motion_blur(setting, self._middle_mm(block), block.streak_mm, left, top, sprite, alpha)


_SIDES = 40
"""Facets around a disc; a ball has half as many."""
_BALL_RINGS = 14
"""Circles of corners of a ball, from its foot to its top."""
_ROUNDING_STEPS = 4
"""Circles of corners of a disc's rounded upper edge."""


class DiscPainter:
    """Draws discs, with or without a ball on top, and single balls of one setting."""

    def __init__(self, setting: Setting, shadows: painting.Shadows) -> None:
        self._setting = setting
        self._pieces = DiscPieces.on(setting.layout.board)
        self._look = setting.discs
        self._shadows = shadows

    def sprite(self, piece: DiscPose | BallPose) -> painting.Sprite:
        """Draw one disc or ball as the camera sees it."""
        return bodies_sprite(self._setting, self._bodies(piece), piece.streak_mm)

    def paint_shadows(self, image: Image, piece: DiscPose | BallPose) -> None:
        """Draw the piece's shadows, in place."""
        ground_mm = painting.shadow_ground_mm(self._setting, piece)
        for body in self._bodies(piece):
            self._shadows.paint(image, body.corners_mm, ground_mm)

    def _bodies(self, piece: DiscPose | BallPose) -> list[Body]:
        foot = np.array([piece.x_mm, piece.y_mm, painting.base_height_mm(self._setting, piece)])
        if isinstance(piece, BallPose):
            return [self._ball(piece.colour, foot)]
        bodies = [self._disc(piece.colour, foot)]
        if piece.ball is not None:
            on_top = foot + np.array([*piece.ball.offset_mm, self._pieces.disc_mm])
            bodies.append(self._ball(piece.ball.colour, on_top))
        return bodies

    def _disc(self, colour: str, foot_mm: FloatArray) -> Body:
        radius, height, rounding = self._pieces.diameter_mm / 2, self._pieces.disc_mm, self._look.rounding_mm
        angles = np.linspace(0.0, np.pi / 2, _ROUNDING_STEPS)
        arc = rounding * np.column_stack([np.cos(angles), np.sin(angles)]) + (radius - rounding, height - rounding)
        profile = np.vstack([[radius, 0.0], arc])
        facets, normals = revolve(profile, foot_mm, _SIDES)
        rim = revolve(profile[-2:], foot_mm, _SIDES)[0][:_SIDES, 3].copy()
        return Body(facets, normals, self._colour(colour), self._look.gloss, top=rim)

    def _ball(self, colour: str, foot_mm: FloatArray) -> Body:
        angles = np.linspace(-np.pi / 2, np.pi / 2, _BALL_RINGS)
        profile = self._pieces.ball_mm / 2 * np.column_stack([np.cos(angles), 1.0 + np.sin(angles)])
        facets, normals = revolve(np.maximum(profile, 0.0), foot_mm, _SIDES // 2)
        if self._look.crumpled:
            middle = foot_mm + np.array([0.0, 0.0, self._pieces.ball_mm / 2])
            facets = middle + (facets - middle) * (1.0 - self._look.crumpled * _dents(facets - middle))[..., None]
            normals = normals_of(facets)
        own = self._look.balls[colour] if colour in self._look.balls else self._colour(colour)
        return Body(facets, normals, own, self._look.gloss)

    def _colour(self, name: str) -> Colour:
        """Return the colour of a player's pieces; raises ValueError for a name that the look does not have."""
        if name not in self._look.colours:
            raise ValueError(f"no piece colour {name!r}; this table has {', '.join(sorted(self._look.colours))}")
        return self._look.colours[name]


def _dents(directions: FloatArray) -> FloatArray:
    """Return the depth, 0 to 1, of the dents of a crumpled ball in directions (..., 3) from its middle."""
    waves = np.sin(directions @ np.array([[1.3, 0.7, 0.4], [-0.5, 1.1, 0.9], [0.6, -1.0, 1.2]]))
    return np.asarray(0.5 + waves.sum(axis=-1) / 6.0)


_EDGE_MM = 0.7
"""Width of a pyramid's rounded edges."""


class PyramidPainter:
    """Draws stacks of pyramids of one setting."""

    def __init__(self, setting: Setting, shadows: painting.Shadows) -> None:
        self._setting = setting
        self._look = setting.pyramids
        pieces = PyramidPieces.on(setting.layout.board)
        self._pieces = replace(pieces, rise_mm=pieces.rise_mm * self._look.rise_share)
        self._shadows = shadows

    def sprite(self, stack: StackPose) -> painting.Sprite:
        """Draw one stack as the camera sees it."""
        return bodies_sprite(self._setting, self._bodies(stack), stack.streak_mm)

    def paint_shadows(self, image: Image, stack: StackPose) -> None:
        """Draw the stack's shadows, in place."""
        bodies = self._bodies(stack)
        corners = np.vstack([body.corners_mm for body in bodies])
        opacity = max(body.opacity for body in bodies)
        self._shadows.paint(image, corners, painting.shadow_ground_mm(self._setting, stack), opacity)

    def _bodies(self, stack: StackPose) -> list[Body]:
        foot = np.array([stack.x_mm, stack.y_mm, painting.base_height_mm(self._setting, stack)])
        rotation = turn_rotation(stack.turned_deg)
        elevations = self._pieces.elevations_mm([pyramid.size for pyramid in stack.pyramids])
        bodies = []
        for pyramid, elevation_mm in zip(stack.pyramids, elevations, strict=True):
            middle = foot + rotation @ np.array([*pyramid.offset_mm, elevation_mm])
            bodies.append(self._body(pyramid, middle, rotation @ _rotation_in_stack(pyramid)))
        return bodies

    def _body(self, pyramid: Pyramid, foot_mm: FloatArray, rotation: FloatArray) -> Body:
        look = self._look
        if pyramid.colour not in look.colours:
            raise ValueError(f"no pyramid colour {pyramid.colour!r}; this table has {', '.join(sorted(look.colours))}")
        size = self._pieces.sizes[pyramid.size]
        base = UNIT_SQUARE * size.base_mm
        below = np.column_stack([base, np.zeros(4)]) @ rotation.T + foot_mm
        above = np.column_stack([base * look.tip_share, np.full(4, size.height_mm)]) @ rotation.T + foot_mm
        facets = frustum(below, above)
        upright, foot = np.stack([below, above], axis=1), np.stack([below, np.roll(below, -1, axis=0)], axis=1)
        return Body(
            facets,
            normals_of(facets),
            look.colours[pyramid.colour],
            look.gloss,
            opacity=look.opacity.get(pyramid.colour, look.usual_opacity),
            edges=np.concatenate([upright, foot]),
            edge_mm=_EDGE_MM,
            edge_light=1.0 + look.edge,
        )


def _rotation_in_stack(pyramid: Pyramid) -> FloatArray:
    """Return the rotation of a pyramid in its stack: turned about its axis, then leaning."""
    towards_x, towards_y = np.radians(pyramid.lean_deg)
    lean, _ = cv2.Rodrigues(np.array([-towards_y, towards_x, 0.0]))
    return np.asarray(lean @ turn_rotation(pyramid.turned_deg), dtype=np.float64)
