"""Estimates the time of a frame on a Raspberry Pi, from its time here and from its number of ARM instructions.

Run: python benchmarks/machine/on_a_pi.py --set SET_DIR --calibration DIR [--frames N] [--system DIRECTORY]

The first estimate scales the processor time of each frame, from picture to verdict, by 7-Zip's benchmark with one
thread, here (`apt install 7zip`, or p7zip-full on Debian 12) and on both Pis, from sbc-bench:
https://github.com/ThomasKaiser/sbc-bench/blob/master/Sorted-Results.md. It is optimistic, as a Pi's vector registers
are half as wide as those of most PCs.

The second one counts the instructions of the same frames under emulation, and assumes one instruction a cycle. It needs
--system, a system made by `sudo KEEP=DIRECTORY scripts/try_on_arm64 bookworm`, root, a C compiler and
`apt install qemu-user`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import re
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import median

import click

from benchmarks.machine.arm64 import frames as workload
from benchmarks.parts.command_line import PROGRESS
from benchmarks.parts.picture_films import load_set
from vision.errors import VisionError


@dataclass(frozen=True)
class Pi:
    """A Raspberry Pi: 7-Zip's rating with one thread under a 64-bit system, and its clock."""

    name: str
    mips: float
    clock_hz: float


PIS = (Pi("Pi 4", 1769, 1.8e9), Pi("Pi 5", 3196, 2.4e9))
"""From sbc-bench's results 3OBF and Au3jaA."""
PLUGIN = Path(workload.__file__).with_name("count_instructions.c")
EMULATOR = "/host/usr/bin/qemu-aarch64"
LOADER = (
    f"/host{Path('/lib64/ld-linux-x86-64.so.2').resolve()}",
    "--library-path",
    "/host/lib/x86_64-linux-gnu:/host/usr/lib/x86_64-linux-gnu",
)
INSIDE = """
mount --rbind / "$1/host" && mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" || exit 1
system=$1; shift
exec chroot "$system" env -C /home/owner/project -- OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$@"
"""


def rating_here() -> float:
    """Give 7-Zip's rating of this machine in MIPS with one thread, corrected for other load."""
    program = shutil.which("7zz") or shutil.which("7z")
    if program is None:
        raise click.ClickException(
            "7-Zip is missing, whose benchmark scales the times: apt install 7zip (or p7zip-full)"
        )
    said = subprocess.run([program, "b", "-mmt1"], capture_output=True, text=True, check=True).stdout
    total = re.search(r"^Tot:\s+\d+\s+(\d+)\s+\d+", said, re.MULTILINE)
    if total is None:
        raise click.ClickException(f"cannot find the total in what {program} b -mmt1 printed: {said[-300:]!r}")
    return float(total[1])


def medians(costs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Give the median cost of each kind of frame, in order of appearance."""
    by_kind: defaultdict[str, list[float]] = defaultdict(list)
    for kind, cost in costs:
        by_kind[kind].append(cost)
    return {kind: median(found) for kind, found in by_kind.items()}


def counted(system: Path, set_dir: Path, calibration: Path, frames: int) -> Iterator[tuple[str, float]]:
    """Give each frame's kind and number of ARM instructions, counted in an emulated system."""
    with tempfile.TemporaryDirectory() as folder:
        plugin = Path(folder) / "count_instructions.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", plugin, PLUGIN], check=True)
        (system / "system" / "host").mkdir(exist_ok=True)
        host = [Path("/host") / path.resolve().relative_to("/") for path in (plugin, set_dir, calibration)]
        module = [
            ".venv/bin/python",
            "-P",
            "-c",
            f"import sys; sys.path.insert(0, '.'); import {workload.__name__} as w; w.main()",
        ]
        emulated = [*LOADER, EMULATOR, "-plugin", host[0], *module, *host[1:], frames]
        command = ["unshare", "--mount", "sh", "-c", INSIDE, "sh", system.resolve() / "system", *emulated]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise click.ClickException(f"counting failed with {done.returncode}: {done.stderr[-600:]}")
    yield from between_marks(done.stderr)


def between_marks(said: str) -> Iterator[tuple[str, float]]:
    """Give each frame's kind and instructions, from the output of plugin and program with two marks a frame."""
    marks: list[int] = []
    for line in said.splitlines():
        word, _, rest = line.partition(" ")
        if word == "instructions":
            marks.append(int(rest))
        elif word == "frame":
            yield rest, float(marks[-1] - marks[-2])


@click.command()
@click.option("--set", "set_dir", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--calibration", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--frames", default=60, show_default=True, type=click.IntRange(min=6), help="Frames to read.")
@click.option(
    "--system", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Count instructions in this system."
)
def main(set_dir: Path, calibration: Path, frames: int, system: Path | None) -> None:
    """Print the time of each kind of frame here, and its estimates for a Pi 4 and a Pi 5."""
    try:
        pictures = load_set(set_dir, calibration)
    except (OSError, VisionError) as error:
        raise click.ClickException(str(error)) from error
    with PROGRESS.status("Rating this machine"):
        before = rating_here()
    with PROGRESS.status(f"Reading {frames} frames"):
        here_s = medians(workload.costs(pictures, frames, time.process_time))
    with PROGRESS.status("Rating this machine once more"):
        rating = (before + rating_here()) / 2
    instructions: dict[str, float] = {}
    if system is not None:
        with PROGRESS.status(f"Counting the instructions of {frames} frames under emulation"):
            instructions = medians(counted(system, set_dir, calibration, frames))
    click.echo(f"7-Zip, one thread: {rating:.0f} MIPS here, {', '.join(f'{pi.mips:.0f} on a {pi.name}' for pi in PIS)}")
    for kind, took_s in here_s.items():
        click.echo(
            f"{kind}: {1000 * took_s:.1f} ms here; {'; '.join(estimates(took_s * rating, instructions.get(kind)))}"
        )


def estimates(work_mips_s: float, instructions: float | None) -> Iterator[str]:
    """Estimate the time of a frame on each Pi, by 7-Zip's ratings and by its instructions."""
    for pi in PIS:
        said = f"{pi.name} {1000 * work_mips_s / pi.mips:.0f} ms by 7-Zip"
        if instructions is not None:
            took_ms, millions = 1000 * instructions / pi.clock_hz, instructions / 1e6
            said += f", {took_ms:.0f} ms at one of {millions:.0f} million instructions a cycle"
        yield said


if __name__ == "__main__":
    main()
