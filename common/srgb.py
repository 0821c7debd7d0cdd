"""The tone curve of sRGB."""


def linear_from_srgb(encoded: float) -> float:
    """Turn an sRGB-encoded level, 0 to 1, into light, 0 to 1 (IEC 61966-2-1).

    >>> linear_from_srgb(0.0), linear_from_srgb(1.0)
    (0.0, 1.0)
    """
    return encoded / 12.92 if encoded <= 0.04045 else float(((encoded + 0.055) / 1.055) ** 2.4)
