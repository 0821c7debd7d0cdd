"""Number Drop's dice and tiles as a file."""

import pytest

from engine.errors import UnreadableError
from engine.games.number_drop.components import printed_components, read_components

COMPONENTS = """{"format": "number-drop-components 1", "number_dice": ["1*3457", "12*456", "234*67", "123567"],
"shape_die": "IOTLS*", "shapes": {"I4": "XXXX", "L4": "X../XXX", "O4": "XX/XX", "T4": ".X./XXX", "S4": ".XX/XX.",
"V3": "X./XX", "I3": "XXX", "U5": "X.X/XXX", "X5": ".X./XXX/.X.", "T5": "XXX/.X./.X."},
"tiles": [{"solo": "I4", "other": "V3"}, {"solo": "L4", "other": "I3"}, {"solo": "O4", "other": "U5"},
{"solo": "T4", "other": "X5"}, {"solo": "S4", "other": "T5"}]}"""


def test_the_components_that_come_with_the_game_are_the_known_ones():
    read = read_components(COMPONENTS)
    printed = printed_components()
    assert (read.dice, read.tiles, dict(read.shapes)) == (printed.dice, printed.tiles, dict(printed.shapes))


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        ("{", "[", "not JSON"),
        ('"format"', '"form"', "expected format"),
        ("components 1", "components 2", "format is"),
        ("1*3457", "1*345", "6 faces"),
        ("1*3457", "1*345I", "6 faces"),
        ('["1*3457", "12*456", "234*67", "123567"]', "7", "number_dice is 7"),
        ("IOTLS*", "IOTLSX", "faces out of IOTLS"),
        ('"XXXX"', '"XX.XX"', "hang together"),
        ('"XXXX"', '"XX?X"', "column 3"),
        ('"XXXX"', '"XXX"', "not four squares"),
        ('"I4": "XXXX", ', "", "lacks I4"),
        ('"X./XX"', "3", "shapes is"),
        ('{"solo": "I4", "other": "V3"}, ', "", "expected 5 tiles"),
        ('"other": "V3"', '"back": "V3"', "solo and an other"),
        ('"other": "V3"', '"other": "W3"', "tile 1 shows 'W3'"),
        ('"other": "V3"', '"other": "I3"', "expected ten faces"),
    ],
)
def test_damaged_components_are_refused(before, now, message):
    assert before in COMPONENTS
    with pytest.raises(UnreadableError, match=message):
        read_components(COMPONENTS.replace(before, now, 1))
