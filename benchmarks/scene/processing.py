"""What light and a camera do to a whole picture: haze, bands, a sensor's mosaic, processing, coding, broken streams.

Every function is deterministic; pictures are (height, width, 3), blue-green-red. Light is linear, and 1 is white.
"""

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatImage, Image
from vision.sampling import linear_light

Levels = npt.NDArray[np.float32]
"""A picture in grey levels from 0 to 255."""


def developed(light: FloatImage) -> Image:
    """Convert linear light, 0 to 1, to an 8-bit sRGB picture (IEC 61966-2-1); more is clipped at white."""
    clipped = np.clip(light, 0.0, 1.0)
    curve = np.where(clipped <= 0.0031308, 12.92 * clipped, 1.055 * np.power(clipped, 1 / 2.4) - 0.055)
    return np.asarray(np.round(255 * curve), dtype=np.uint8)


def rounded(levels: Levels) -> Image:
    """Round and clip grey levels."""
    return np.asarray(np.clip(np.round(levels), 0, 255), dtype=np.uint8)


def hazed(light: FloatImage, transmission: float, airlight: float) -> FloatImage:
    """Fog, steam or a dirty lens: a share of the light arrives, and the rest is ``airlight``."""
    return np.asarray(light * transmission + airlight * (1.0 - transmission), dtype=np.float32)


def banded(light: FloatImage, depth: float, phase: float, periods: float) -> FloatImage:
    """Bands of a lamp on mains, as a rolling shutter sees them: rows times 1 + ``depth`` sin, so many to a picture."""
    rows = np.arange(light.shape[0], dtype=np.float32) / light.shape[0]
    gain = 1.0 + depth * np.sin(2 * np.pi * periods * rows + phase)
    return np.asarray(light * gain[:, None, None], dtype=np.float32)


def mosaicked(image: Image, rng: np.random.Generator, noise: float) -> Image:
    """A Bayer sensor with noise of that deviation in levels: one colour a pixel, the others interpolated."""
    mosaic = image[..., 1].astype(np.float32)
    mosaic[::2, ::2] = image[::2, ::2, 2]
    mosaic[1::2, 1::2] = image[1::2, 1::2, 0]
    mosaic += rng.normal(0.0, noise, mosaic.shape).astype(np.float32)
    return np.asarray(cv2.demosaicing(rounded(mosaic), cv2.COLOR_BayerRGGB2BGR_EA), dtype=np.uint8)


def sharpened(levels: Levels, amount: float = 0.8) -> Levels:
    """Sharpening and a steep contrast curve, as cheap webcams apply them."""
    crisp = np.clip(levels + amount * (levels - cv2.GaussianBlur(levels, (0, 0), 1.5)), 0, 255) / 255
    return np.asarray(127.5 + 127.5 * np.tanh(2.2 * (crisp - 0.5)) / np.tanh(1.1), dtype=np.float32)


def denoised(image: Image, strength: float) -> Image:
    """A camera's own smoothing of everything fainter than about ``strength`` levels, which takes faint edges too."""
    return np.asarray(cv2.bilateralFilter(image, 9, strength, 4.0), dtype=np.uint8)


_NIGHT_FRAMES = 4
_NIGHT_ELECTRONS = 900.0
"""Electrons that a white pixel gives in daylight, for the shot noise of one frame of a small sensor."""


def night_mode(image: Image, rng: np.random.Generator, light_left: float) -> Image:
    """A phone's night mode: few photons, four frames joined, strong denoising, then a curve that lifts the dark."""
    electrons = linear_light(image) * light_left * _NIGHT_ELECTRONS * _NIGHT_FRAMES
    caught = rng.poisson(electrons) + rng.normal(0.0, 2.0 * np.sqrt(_NIGHT_FRAMES), electrons.shape)
    joined = developed((caught / (light_left * _NIGHT_ELECTRONS * _NIGHT_FRAMES)).astype(np.float32))
    smooth = cv2.bilateralFilter(cv2.medianBlur(joined, 5), 11, 45, 6.0).astype(np.float32) / 255
    return rounded(sharpened(np.asarray(255 * smooth**0.85 * 0.8, dtype=np.float32), 0.4))


_BLOCK = 8
_DEAD_ZONE = 0.67
"""Coefficients below this share of a step are coded as nothing."""


def low_rate_video(image: Image, step: float, before: Image | None = None) -> Image:
    """Video at a low rate: blocks' cosine coefficients in flat steps of so many levels, half the colours, smooth seams.

    ``before`` is the picture decoded last; only what differs from it is coded, so faint changes never arrive.
    """
    height, width = image.shape[:2]
    planes = _planes(image)
    predicted = [np.full_like(plane, 128.0) for plane in planes] if before is None else _planes(before)
    coded = [
        _without_seams(old + _quantised(new - old, step), step) for new, old in zip(planes, predicted, strict=True)
    ]
    luma, *chroma = coded
    size = luma.shape[::-1]
    joined = np.dstack([luma, *(cv2.resize(one, size, interpolation=cv2.INTER_LINEAR) for one in chroma)])
    decoded = cv2.cvtColor(rounded(joined), cv2.COLOR_YCrCb2BGR)
    return np.asarray(decoded[:height, :width], dtype=np.uint8)


def _planes(image: Image) -> list[Levels]:
    """Luma, and both colours at half the size, with margins to whole blocks."""
    height, width = image.shape[:2]
    whole = cv2.copyMakeBorder(image, 0, -height % 16, 0, -width % 16, cv2.BORDER_REPLICATE)
    luma, *chroma = cv2.split(cv2.cvtColor(whole, cv2.COLOR_BGR2YCrCb).astype(np.float32))
    halved = (cv2.resize(one, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for one in chroma)
    return [np.asarray(plane, dtype=np.float32) for plane in (luma, *halved)]


def _quantised(plane: Levels, step: float) -> Levels:
    rows, columns = plane.shape
    order, at = np.arange(_BLOCK), np.arange(_BLOCK) + 0.5
    cosines = np.sqrt(2 / _BLOCK) * np.cos(np.pi / _BLOCK * np.outer(order, at))
    cosines[0] /= np.sqrt(2)
    cosines = cosines.astype(np.float32)
    blocks = plane.reshape(rows // _BLOCK, _BLOCK, columns // _BLOCK, _BLOCK).transpose(0, 2, 1, 3)
    found = cosines @ blocks @ cosines.T / np.float32(step)
    kept = np.sign(found) * np.floor(np.abs(found) + 1.0 - _DEAD_ZONE)
    back = cosines.T @ (kept * np.float32(step)) @ cosines
    return np.asarray(back.transpose(0, 2, 1, 3).reshape(rows, columns), dtype=np.float32)


def _without_seams(plane: Levels, step: float) -> Levels:
    """Smooth the pixels beside the seams between blocks where they differ by less than a step."""
    smooth = plane.copy()
    for flat, out in ((plane, smooth), (plane.T, smooth.T)):
        near, far = flat[_BLOCK - 1 : -1 : _BLOCK], flat[_BLOCK::_BLOCK]
        move = np.where(np.abs(far - near) < step, (far - near) / 4, 0.0)
        out[_BLOCK - 1 : -1 : _BLOCK] += move
        out[_BLOCK::_BLOCK] -= move
    return smooth


def garbled(image: Image, rng: np.random.Generator, quality: int = 85) -> Image:
    """A frame of an MJPEG stream that lost bytes, as a decoder shows it: shifted, miscoloured or grey from there on."""
    _, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    sent = encoded.ravel()
    for _ in range(_TRIES):
        begins = int(rng.uniform(0.25, 0.85) * len(sent))
        lost = int(rng.integers(1, 400))
        torn = np.concatenate([sent[:begins], sent[begins + lost :]])
        decoded = cv2.imdecode(torn, cv2.IMREAD_COLOR)
        if decoded is not None and decoded.shape == image.shape and not np.array_equal(decoded, image):
            return np.asarray(decoded, dtype=np.uint8)
    return np.full_like(image, 128)


_TRIES = 5
"""Damages of a frame that are tried until a decoder gives a picture; a grey one stands for none."""
