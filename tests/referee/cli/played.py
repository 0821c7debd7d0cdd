"""Options of games at the terminal, and the records they leave."""

from pathlib import Path

from engine.records import read

ONE_EACH = ("--option", "blocks_gold=1", "--option", "blocks_teal=1")


def kept(folder: Path):
    (file,) = folder.glob("*-20*.txt")
    return read(file.read_text(encoding="utf-8"))
