"""What all tests share: how hard hypothesis looks, and when garbage is collected.

HYPOTHESIS_PROFILE names the profile; ./check sets it.
"""

import gc
import os
from typing import Any

from hypothesis import HealthCheck, settings

from tests.effort import EXAMPLES_IN_ALL

# Slow machines are welcome: neither a slow example nor slow data is a fault of the code.
_CALM: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# What tests expect is in English, whatever the developer speaks.
for _variable in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
    os.environ.pop(_variable, None)
os.environ["LANG"] = "C.UTF-8"

settings.register_profile("develop", **_CALM)
settings.register_profile("quick", max_examples=10, derandomize=True, database=None, **_CALM)
settings.register_profile("check", max_examples=EXAMPLES_IN_ALL, derandomize=True, database=None, **_CALM)
settings.register_profile("long", max_examples=500, print_blob=True, **_CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "develop"))


def pytest_collection() -> None:
    """Find the tests without looking for garbage: nearly all that is made stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was found out of every later look for garbage, which would walk through thousands of tests."""
    gc.enable()
    gc.freeze()
