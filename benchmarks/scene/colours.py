"""Random colours."""

import cv2
import numpy as np

from simulator.scene.pieces import Colour


def random_colour(rng: np.random.Generator, low: float = 0.03, high: float = 0.98, strong: float = 1.2) -> Colour:
    """Draw a random colour; its brightness is from ``low`` to ``high``, its saturation grows with ``strong``."""
    hue, strength, value = rng.uniform(0, 180), rng.beta(strong, 1.0) * 255, rng.uniform(low, high) * 255
    pixel = np.array([[[hue, strength, value]]], dtype=np.uint8)
    blue, green, red = cv2.cvtColor(pixel, cv2.COLOR_HSV2BGR)[0, 0] / 255
    return float(blue), float(green), float(red)
