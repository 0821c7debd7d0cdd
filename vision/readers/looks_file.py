"""Files of looks: JSON objects whose ``format`` names the kind of pieces."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from common.durable import write_durably
from common.json_files import read_json_object
from common.phrases import listed
from vision.errors import EnrolmentError
from vision.frame import FloatArray


def write_looks(path: Path, file_format: str, looks: Mapping[str, Any]) -> None:
    """Write looks, as JSON values, to a file, completely or not at all; raises OSError."""
    write_durably(path, json.dumps({"format": file_format, **looks}, indent=1) + "\n")


def read_looks(path: Path, *formats: str) -> dict[str, Any]:
    """Read a file that has one of these formats; raises EnrolmentError with what is wrong."""
    data = read_json_object(path, "the looks", EnrolmentError, plural=True)
    given = data.get("format")
    if given not in formats:
        expected = listed([repr(one) for one in formats], "or")
        raise EnrolmentError(f"the looks {path} have format {given!r}; expected {expected}: learn them again")
    return data


def finite_vector(values: object, length: int) -> FloatArray:
    """Convert values from a file to (length,); raises TypeError, ValueError or OverflowError for anything else."""
    vector = np.asarray(values, dtype=np.float64).reshape(length)
    if not np.isfinite(vector).all():
        raise ValueError(f"got {values} where {length} finite numbers are expected")
    return vector
