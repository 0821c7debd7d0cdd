"""The set-up steps that print: whose game it is, one that is there or one of paper, and the sheets for it."""

from app.settings.table_layout import kit_for
from app.setup.screens import in_mm
from app.setup.table_setup import AnswerForm, Field, FieldKind, SetupStep, StepResult, TableSetup
from common.findings import Finding
from common.phrases import Phrase
from engine.options import read_options
from frontends.printing.board import plan_board
from frontends.printing.kit.pages import plan_kit
from frontends.printing.pages import Page, write_pdf
from frontends.printing.sheets import plan_markers, plan_sheets
from vision.layout.kit import KIT, has_kit

RULER_MM = 100.0
RULER_OFF_MM = 0.5
"""The largest error of the printed ruler, in mm. A marker 175 mm from the centre is then off by less than 1 mm."""

BOARD_FILE, MARKERS_FILE, SHEETS_FILE = "board.pdf", "markers.pdf", "sheets.pdf"
_KITS = {
    "a4": ("kit-a4.pdf", Phrase("The paper kit, for A4")),
    "letter": ("kit-letter.pdf", Phrase("The paper kit, for US Letter")),
}
"""The file of each paper, and what it is called."""


def _check_kit(table: TableSetup, answer: str) -> StepResult:
    if answer == KIT:
        return StepResult((Finding.ok(_GAME, Phrase("printed on paper")),), {"table.layout": KIT})
    return StepResult((Finding.ok(_GAME, Phrase("your own set")),), {"table.layout": None} if table.uses_kit else {})


_GAME = Phrase("game")


def _files(table: TableSetup) -> tuple[tuple[str, str], ...]:
    if table.uses_kit:
        return tuple(_KITS[paper] for paper in sorted(_KITS, key=lambda paper: paper != table.paper))
    if not table.has_board:
        return ((SHEETS_FILE, Phrase("The sheets")),)
    return (BOARD_FILE, Phrase("A whole board")), (MARKERS_FILE, Phrase("Markers for your own board"))


def _write_files(table: TableSetup) -> None:
    layout, title = table.usual_layout, table.game.title
    pages: dict[str, tuple[Page, ...]] = {}
    if table.uses_kit:
        kit = kit_for(table.game, table.options)
        pages |= {name: plan_kit(table.game, kit, paper, table.options) for paper, (name, _) in _KITS.items()}
    elif table.game.printed_sheet is not None:
        printed = table.game.printed_sheet(read_options(table.game.options, table.options))
        pages[SHEETS_FILE] = plan_sheets(title, printed, layout, table.paper)
    else:
        pages[BOARD_FILE] = plan_board(layout, title, table.paper)
        pages[MARKERS_FILE] = plan_markers(layout.markers, table.paper)
    for name, planned in pages.items():
        write_pdf(planned, table.folder / name, title=f"{title}: {name.removesuffix('.pdf')}")


def _check_print(_: TableSetup, answer: str) -> StepResult:
    ruler = Phrase("ruler")
    ruler_mm = in_mm(answer)
    if not ruler_mm:
        message = Phrase("{answer} is not a length", answer=repr(answer))
        return StepResult((Finding.fault(ruler, message, Phrase("type millimetres, such as 100")),))
    if abs(10 * ruler_mm - RULER_MM) <= 10 * RULER_OFF_MM:
        message = Phrase("{got} looks like centimetres", got=f"{ruler_mm:g}")
        return StepResult((Finding.fault(ruler, message, Phrase("type millimetres, such as 100")),))
    if not abs(ruler_mm - RULER_MM) <= RULER_OFF_MM:
        remedy = Phrase(
            "set the printer's scale to {scale} % and print again", scale=f"{100 * RULER_MM / ruler_mm:.1f}"
        )
        message = Phrase("{got} mm long; it must be {right} mm", got=f"{ruler_mm:g}", right=f"{RULER_MM:g}")
        return StepResult((Finding.fault(ruler, message, remedy),))
    return StepResult((Finding.ok(ruler, Phrase("{got} mm: printed at the right size", got=f"{ruler_mm:g}")),))


_LEAST_RULER_MM = 50.0
"""Half of what the ruler is; what is shorter was measured in centimetres, or is another line."""
_RULER = Field(
    Phrase("How long is the printed ruler, in mm?"),
    FieldKind.LENGTH,
    hint=Phrase("From its first line to its last, in millimetres."),
    least=_LEAST_RULER_MM,
)
_PRINT_FORMS = (
    AnswerForm(
        Phrase("They are printed"),
        told=(Phrase("Each sheet has a ruler at its lower edge. Hold a real one to it."),),
        asks=Phrase("Is the printed ruler 100 mm long?"),
        then=(
            AnswerForm(Phrase("Yes, exactly 100 mm"), answer=f"{RULER_MM:g}"),
            AnswerForm(Phrase("No, it's longer or shorter"), (_RULER,)),
        ),
    ),
)


def _told_of_printing(table: TableSetup) -> tuple[str, ...]:
    printing = Phrase("Print at actual size (100 %), not “fit to page”.")
    if table.uses_kit:
        use = Phrase("The first page shows what goes where, and how to make it.")
        return printing, use, Phrase("You need scissors and glue.")
    own = (Phrase("Print a whole board, or only markers to put round your own."),) if table.has_board else ()
    return printing, *own


KIT_STEP = SetupStep(
    "kit",
    Phrase("The game"),
    Phrase("Do you have the game?"),
    lambda _: (
        AnswerForm(Phrase("Print it"), answer=KIT, words=Phrase("A paper version, to cut out and glue.")),
        AnswerForm(Phrase("I have it"), words=Phrase("A board or sheets of your own.")),
    ),
    _check_kit,
    unneeded=lambda table: "" if has_kit(table.game.name) else Phrase("There is no paper kit of this game."),
)
PRINT_STEP = SetupStep(
    "print",
    Phrase("Printing"),
    Phrase("Print these sheets"),
    lambda _: _PRINT_FORMS,
    _check_print,
    told=_told_of_printing,
    prepare=_write_files,
    files=_files,
    needs=("players", "kit"),
)
