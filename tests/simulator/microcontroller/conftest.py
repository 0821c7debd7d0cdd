import json

import pytest

LIGHTS = 12


@pytest.fixture
def pin_map() -> bytes:
    form = {
        "format": 1,
        "board": "pico",
        "name": "virtual",
        "link": "usb",
        "lights": {"pin": 28, "count": LIGHTS, "order": "GRB", "limit_ma": 2000, "brightness": 255},
        "matrix": {"rows": [2, 3, 4], "columns": [10, 11, 12, 13], "diodes": False},
        "switches": [26, 27],
        "buttons": [18, 19, 20],
        "buzzer": {"pin": 22, "kind": "passive"},
    }
    return json.dumps(form).encode()
