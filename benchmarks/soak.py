"""Whole games with faults on the virtual table, through the real service: no verdict may be wrong, no turn lost.

Run: python benchmarks/soak.py --games 50 --seed 1 [--turns 40] [--jobs 2] [--size 1280x720]
     python benchmarks/soak.py --games 200 --eyes sensors|both   switches under the board, alone or beside the camera
     python benchmarks/soak.py --games 30 --paper --untaught  the paper kit on its first evening, without calibration
     python benchmarks/soak.py --game 1007 [--save DIR]      repeats one game exactly, with verbose output

Table, players and faults are drawn from the seed. A question, a roll that a person had to enter and a turn that only a
person brought in are needless unless something disturbed the table then, or the turn asked about shows like another
one. A roll that shows the same as the last one may be asked about: the dice may only have been put aside. Exit code 1
when a target is missed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

from functools import partial

import click
import cv2
from rich.console import Console

from app.runtime.command_socket import reply_message
from app.wiring.plan import Inputs
from benchmarks.faults.game import FAULT_KINDS, impossible_kinds
from benchmarks.parts.command_line import all_played, console_for, picture_size
from benchmarks.parts.soak.game import GamePlan, plan_of, play
from benchmarks.parts.soak.report import GameScore, Outcome, SoakReport
from benchmarks.parts.soak.score import score
from engine.registry import games as registered
from engine.registry import load
from referee.judge.verdict import Verdict
from vision.frame import Frame

_AROUND_S = 1.6
_PLAIN_WIDTH = 132
_SAVED_EVERY = 3


def play_and_score(plan: GamePlan) -> GameScore:
    """Play one game and score it."""
    return score(play(plan))


@click.command(help=__doc__)
@click.option("--games", default=50, show_default=True, type=click.IntRange(1), help="How many games.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Games are seed, seed + 1, ...")
@click.option("--turns", default=40, show_default=True, type=click.IntRange(1), help="Turns in each game.")
@click.option("--jobs", default=0, type=click.IntRange(0), help="Processes; by default one a core.")
@click.option("--size", default="1280x720", show_default=True, help="Size of the camera's picture; 960x540 is faster.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(FAULT_KINDS),
    metavar="KIND",
    help="Only faults of this kind, such as 'no frames'; repeatable.",
)
@click.option(
    "--perfect-eyes",
    "perfect_reader",
    is_flag=True,
    help="Use a perfect reader instead of pictures, which is fast.",
)
@click.option(
    "--eyes",
    "inputs",
    type=click.Choice([one.value for one in Inputs]),
    default="camera",
    show_default=True,
    help="Inputs of the referee.",
)
@click.option(
    "--of",
    "game",
    type=click.Choice(registered()),
    default="deblockle",
    show_default=True,
    help="Which game to play.",
)
@click.option("--paper", is_flag=True, help="Play every game with its paper kit, instead of one in five.")
@click.option("--untaught", is_flag=True, help="Learn camera and colours from the table, not before the game.")
@click.option("--game", "one", type=click.IntRange(0), help="Play only the game of this seed, with verbose output.")
@click.option("--save", type=click.Path(path_type=Path), help="With --game: write the frames around each failure here.")
def main(
    games: int,
    seed: int,
    turns: int,
    jobs: int,
    size: str,
    kinds: tuple[str, ...],
    perfect_reader: bool,
    inputs: str,
    game: str,
    paper: bool,
    untaught: bool,
    one: int | None,
    save: Path | None,
) -> None:
    """Play, score, report."""
    if impossible := impossible_kinds(load(game)).intersection(kinds):
        raise click.BadParameter(f"{', '.join(sorted(impossible))} can't occur in {game}", param_hint="--kind")
    console = console_for(_PLAIN_WIDTH)
    measures = picture_size(size)
    again = f"--turns {turns} --size {size}" + "".join(f" --kind '{kind}'" for kind in kinds)
    again += (
        f" --of {game}" * (game != "deblockle")
        + " --perfect-eyes" * perfect_reader
        + f" --eyes {inputs}" * (inputs != Inputs.CAMERA)
        + " --paper" * paper
        + " --untaught" * untaught
    )
    plans = [
        plan_of(
            number,
            turns,
            measures,
            kinds,
            perfect_reader=perfect_reader,
            inputs=Inputs(inputs),
            game=game,
            always_paper=paper,
            untaught=untaught,
        )
        for number in (range(seed, seed + games) if one is None else (one,))
    ]
    if one is None:
        report = SoakReport(_play_all(plans, jobs, console), again, Inputs(inputs), game, kinds)
    else:
        report = SoakReport([_print_game(plans[0], console, save)], again, Inputs(inputs), game, kinds)
    report.print_to(console)
    sys.exit(0 if report.met else 1)


def _play_all(plans: list[GamePlan], jobs: int, console: Console) -> list[GameScore]:
    scores: list[GameScore] = []

    def describe(_game: GameScore) -> str:
        return f"{sum(item.failed for game in scores for item in game.items)} wrong or lost"

    for game in all_played(play_and_score, plans, jobs or None, console, describe):
        scores.append(game)
        for item in game.items:
            if item.failed:
                console.print(
                    f"game {item.seed} at {item.time_s:.1f} s: {item.outcome.value}: {item.what}: {item.detail}",
                    markup=False,
                    highlight=False,
                )
    return sorted(scores, key=lambda game: game.seed)


def _print_game(plan: GamePlan, console: Console, save: Path | None) -> GameScore:
    cv2.setNumThreads(1)
    say = partial(console.print, markup=False, highlight=False)
    say(f"{plan}")

    def watch(frame: Frame | None, verdicts: list[Verdict]) -> None:
        for verdict in verdicts:
            when = "frame    -1     0.0 s" if frame is None else f"frame {frame.sequence:5d} {frame.time_s:7.1f} s"
            say(f"{when}  {verdict.kind.value:<12} {verdict.sentence} ({verdict.margin:.1f})")

    played = play(plan, watch)
    for event in played.truth.events:
        say(f"{event.began_s:7.1f} to {event.gone_s:.1f} s  {event.player} {event.kind} {event.turn}{event.violation}")
    for one in played.disturbances:
        until = "on" if one.ended_s is None else f"to {one.ended_s:.1f} s"
        say(f"{one.began_s:7.1f} {until}  {one.kind}")
    for word, reply in played.overrides:
        say(f"{word.time_s:7.1f} s  a person: {word.why}: {word.state or dict(word.looks)}: {reply_message(reply)}")
    for time_s, remark in played.remarks:
        say(f"{time_s:7.1f} s  remark: {remark}")
    scored = score(played)
    for item in scored.items:
        rules = f" [{', '.join(item.rules)} | {', '.join(item.expected_rules)}]" if item.expected_rules else ""
        say(
            f"{item.time_s:7.1f} s  {item.outcome.value:<18} {item.what} ({', '.join(item.kinds)}) {item.detail}{rules}"
        )
    console.print(f"fingerprint {scored.digest}")
    if save is not None:
        bad = [item for item in scored.items if item.failed or item.outcome is Outcome.NEEDLESSLY]
        save_frames(plan, [item.time_s for item in bad], save)
    return scored


def save_frames(plan: GamePlan, times_s: list[float], folder: Path) -> None:
    """Repeat a game, which gives the same frames, and save those around each failure."""
    folder.mkdir(parents=True, exist_ok=True)

    def watch(frame: Frame | None, verdicts: list[Verdict]) -> None:
        if frame is None or not any(abs(frame.time_s - time_s) <= _AROUND_S for time_s in times_s):
            return
        if verdicts or frame.sequence % _SAVED_EVERY == 0:
            cv2.imwrite(str(folder / f"game-{plan.seed}-frame-{frame.sequence:05d}.png"), frame.image)

    play(plan, watch)


if __name__ == "__main__":
    main()
