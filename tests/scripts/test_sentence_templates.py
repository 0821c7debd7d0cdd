"""Templates of sentences are found in source code."""

from textwrap import dedent

import pytest

from scripts.sentence_templates import templates_in


def found_in(source: str, **fixed: tuple[str, ...]) -> list[str]:
    return templates_in(dedent(source), {name.replace("_", "."): texts for name, texts in fixed.items()}, {"unsaid"})


@pytest.mark.parametrize(
    ("source", "templates"),
    [
        ('say("The end is near.")', ["The end is near."]),
        ('say(f"It is {state.to_move}\'s turn on {PLACES[at]}.")', ["It is {to_move}'s turn on {place}."]),
        ('say(f"{a.name} beats {b.name}, and {a.name} wins")', ["{name} beats {name_2}, and {name} wins"]),
        ('say(f"cannot read {text!r} here")', ["cannot read {text!r} here"]),
        (
            """say(f"{listed(names)} {'is' if len(names) == 1 else 'are'} gone.")""",
            ["{names} is gone.", "{names} are gone."],
        ),
        (
            """say(f"{counted(n, 'step')} {'is' if n == 1 else 'are'} left")""",
            ["1 step is left", "{n} steps are left"],
        ),
        ('say("Take it" + (", or leave it." if may else "."))', ["Take it, or leave it.", "Take it."]),
        ('say(f"A {self.piece} is gone.")', ["A block is gone.", "A disc is gone."]),
        ('raise ValueError("a fault of ours")', []),
        ('kind = "too-many-blocks"', []),
        ('if text.startswith("the end"): pass', []),
    ],
)
def test_each_way_to_say_a_sentence_is_a_template(source: str, templates: list[str]) -> None:
    assert found_in(source, self_piece=("block", "disc")) == templates


def test_a_local_text_that_is_only_a_part_is_no_template_of_its_own() -> None:
    source = """
        def said(onto, end):
            \"\"\"Say what cannot be.\"\"\"
            how = f"can't go onto {end}" if onto else f"can't pass {end}"
            again = f"Leave {end} alone."
            say(again)
            return f"The block {how}. {again}"

        def unsaid():
            return "nobody hears this"
    """
    assert found_in(source) == [
        "Leave {end} alone.",
        "The block can't go onto {end}. Leave {end} alone.",
        "The block can't pass {end}. Leave {end} alone.",
    ]


def test_with_only_faults_other_functions_are_left_out() -> None:
    source = """
        HELP = "Say nothing of this."

        def check(camera):
            remedy = "plug it in"
            if not camera:
                return Finding.fault("camera", "no camera is there", remedy)
            return Finding.ok("camera", f"{camera.name} is there")

        def read(path, error):
            raise error(f"cannot read {path}")

        def log(path):
            return f"{path} was looked at"
    """
    assert templates_in(dedent(source), {}, only_faults=True) == [
        "plug it in", "camera", "no camera is there", "{name} is there", "cannot read {path}",
    ]  # fmt: skip
