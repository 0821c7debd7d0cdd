"""Games at the terminal are recorded, saved and loaded."""

import re
from datetime import datetime
from pathlib import Path

import pytest

from common.durable import write_durably
from engine.records import PlayedTurn, read
from referee.cli.play import command, game
from tests.referee.cli.played import ONE_EACH, kept


def test_a_game_is_saved_and_loaded(play, tmp_path):
    typed = "save\nd1-e1=cross-f1\nsave a.txt\nundo\nload a.txt\nload none.txt\nload\nsave no/such/b.txt\nquit\n"
    said = play("deblockle", *ONE_EACH, "--record", "end.txt", typed=typed).output
    assert "A file is needed, such as `save game.txt`." in said
    assert "Loaded: a.txt, 1 turn." in said
    assert "Not loaded: none.txt: No such file or directory" in said
    assert "Not saved: no/such/b.txt" in said
    assert Path("end.txt").read_text() == Path("a.txt").read_text()
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe")
    (tmp_path / "c.txt").write_text('[Game "harvest"]\n')
    said = play("deblockle", "--load", "a.txt", "--name", "gold=Zoe", typed="load b.txt\nload c.txt\n1\n").output
    assert "b.txt is not a game record (it is not UTF-8 text)" in said
    assert "It is a record of harvest; expected one of deblockle." in said
    record = kept(tmp_path)
    assert len(record.entries) == 2
    assert ("Gold", "Zoe") in record.tags


def test_an_impossible_file_name_is_refused(play):
    said = play("deblockle", typed="save a\0b\nload a\0b\nquit\n").output
    assert said.count(": embedded null") == 2


def test_loading_a_file_that_is_no_record_is_refused(play, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff")
    assert "is not a game record" in play("deblockle", "--load", "a.txt", code=4).stderr


def saved(file: Path) -> str:
    """When a file was saved, and its name."""
    return f"{datetime.fromtimestamp(file.stat().st_mtime).astimezone():%Y-%m-%d %H:%M}, {file.name}"


def test_a_record_that_cannot_be_written_is_printed(play, tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    result = play("deblockle", "--record", "there", typed="resign\ny\n", code=2)
    assert "is a directory" in result.stderr

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "x.txt")

    monkeypatch.setattr(game, "write_durably", full)
    result = play("deblockle", "--record", "x.txt", typed="resign\ny\n", code=8)
    assert result.stdout.count("The game can't be kept in x.txt: No space left on device.") == 1
    assert '[Result "teal"]' in result.stdout
    assert result.stderr == (
        "referee: error: the game is not kept: x.txt can't be written (No space left on device); its record is above\n"
    )


def test_a_disk_error_is_forgotten_once_the_file_holds_the_game(play, tmp_path, monkeypatch):
    faults = iter([None, OSError(28, "No space left on device")])

    def full_once(path: Path, text: str) -> None:
        fault = next(faults)
        if fault is not None:
            raise fault
        write_durably(path, text)

    monkeypatch.setattr(game, "write_durably", full_once)
    said = play("diaballik", typed="c1-c2\nc7-c6\nundo\nquit\n").output
    assert "No space left on device. Play on" in said
    assert "Kept as " in said
    assert len(kept(tmp_path).entries) == 1


def test_each_step_is_on_the_disk_before_the_next_prompt(play, tmp_path, monkeypatch):
    lines = iter(["d1-e1=cross-f1", "undo", "d1-e1=cross-f1", None])
    seen = []

    def ask(_: str) -> str | None:
        seen.append([len(read(file.read_text()).entries) for file in tmp_path.glob("*.txt")])
        return next(lines)

    monkeypatch.setattr(command, "_line_reader", lambda: ask)
    play("deblockle", *ONE_EACH)
    assert seen == [[], [1], [0], [1]]


def test_an_unfinished_game_is_announced_and_resumed(play, tmp_path, monkeypatch):
    play("deblockle", *ONE_EACH, typed="d1-e1=cross-f1\nquit\n")
    (file,) = tmp_path.glob("*.txt")
    mentioned = (
        f"Not finished: Deblockle, 1 turn, {saved(file)}. `referee play deblockle --load {file.name}` goes on with it."
    )
    assert mentioned in play("deblockle", typed="q\n").output
    assert "Not finished" not in play("deblockle", "--new", typed="exit\n").output
    monkeypatch.setattr(command, "_is_asked", lambda: True)
    lines = iter([None, None, "undo", "d1-c1=x-b2", None])
    monkeypatch.setattr(command, "_line_reader", lambda: lambda _: next(lines))
    for own_rules in (ONE_EACH, ("--set-up", "usual")):
        assert mentioned in play("deblockle", *own_rules).output, "options and a set-up begin a game of their own"
    said = play("deblockle", typed="\n").output
    assert f"A game is not finished (Deblockle, 1 turn, {saved(file)}). Go on with it? [Y/n]" in said
    assert [entry.turn for entry in kept(tmp_path).entries] == ["d1-c1=x-b2"]


def test_without_a_game_the_newest_unfinished_one_of_any_game_is_resumed(play, tmp_path, monkeypatch):
    assert "The games are blockade" in play(code=2).stderr
    play("diaballik", typed="c1-c2\nquit\n")
    (file,) = tmp_path.glob("*.txt")
    assert f"`referee play diaballik --load {file.name}` goes on" in play(code=2).output
    assert "white> quit" in play("--load", file.name, typed="quit\n").output
    monkeypatch.setattr(command, "_is_asked", lambda: True)
    monkeypatch.setattr(command, "_line_reader", lambda: lambda _: None)
    assert f"A game is not finished (Diaballik, 1 turn, {saved(file)})" in play(typed="\n").output
    assert "The games are blockade" in play(typed="n\n", code=2).stderr


def test_ctrl_c_leaves_a_game_that_is_kept_and_says_where(play, tmp_path, monkeypatch):
    lines = iter(["c1-c2"])

    def ask(_):
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_line_reader", lambda: ask)
    said = play("diaballik", code=130).output
    (file,) = tmp_path.glob("*.txt")
    assert f"Kept as {file.name}. `" in said


def test_no_file_is_overwritten_unasked(play, tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("my notes")
    assert (
        "mine.txt is there already; give another name, or --force"
        in play("deblockle", "--record", "mine.txt", code=2).stderr
    )
    said = play("deblockle", "--no-record", typed="save mine.txt\nn\nsave other.txt\nsave other.txt\nquit\n").output
    assert "mine.txt is there already. Write over it? [y/N]" in said
    assert said.count("Saved: other.txt") == 2, "a file of this game's own is not asked about"
    assert (tmp_path / "mine.txt").read_text() == "my notes"
    play("deblockle", "--no-record", typed="save mine.txt\ny\nquit\n")
    assert (tmp_path / "mine.txt").read_text().startswith("[Game")
    play("deblockle", "--record", "mine.txt", "--force", typed="c1-b1=x-a2\n")
    assert len(read((tmp_path / "mine.txt").read_text()).entries) == 1


def test_the_end_is_announced_once_and_leaving_says_how_to_resume(play):
    ended = play("diaballik", typed="resign\ny\n\n").output
    assert ended.count("resigned") == 1
    assert "Kept as " in ended
    assert "goes on." not in ended
    left = play("diaballik", typed="b1-b2\nquit\n").output
    assert re.search(r"Kept as (\S+)\. `referee play diaballik --load \1` goes on\.", left)
    left = play("diaballik", "--record", "my game.txt", typed="b1-b2\nquit\n").output
    assert "Kept as my game.txt. `referee play diaballik --load 'my game.txt'` goes on." in left


def test_a_loaded_record_keeps_its_date_and_names(play):
    play("deblockle", *ONE_EACH, "--record", "old.txt", "--name", "gold=Zoe", typed="d1-e1=cross-f1\n")
    old = Path("old.txt")
    old.write_text(re.sub(r'Date "[^"]+"', 'Date "2020-02-02"', old.read_text()))
    play("--load", "old.txt", "--no-record", typed="save a.txt\n")
    play("deblockle", "--name", "gold=Ann", "--no-record", typed="load old.txt\nsave b.txt\n")
    assert old.read_text() == Path("a.txt").read_text() == Path("b.txt").read_text()


def test_an_older_record_with_a_score_of_its_own_can_be_continued(play, tmp_path):
    (tmp_path / "old.txt").write_text('[Game "diaballik"]\n[Score "1-0"]\n\n1. a1-a2\n2. a7-a6\n')
    assert "White wins: black resigned." in play("diaballik", typed="load old.txt\nresign\ny\n").output
    assert kept(tmp_path).tags[0] == ("Old-Score", "1-0")


def test_a_solo_game_that_was_given_up_is_not_offered_again(play, tmp_path):
    play("number-drop", "--option", "players=1", typed="roll I4,L4,O4,T4,S4\nresign\ny\n")
    assert kept(tmp_path).result == "*"
    assert "Not finished" not in play("number-drop", typed="quit\n").output
    (file,) = tmp_path.glob("*.txt")
    assert "0 turns, all legal. Points: p1 0. Result: given up" in play(file.name, command="replay").output


def turns_in(file: Path | str) -> list[str]:
    return [entry.turn for entry in read(Path(file).read_text()).entries if isinstance(entry, PlayedTurn)]


def test_loading_another_game_leaves_the_one_before_in_its_file(play, tmp_path):
    play("diaballik", "--record", "b.txt", typed="a1-a2\nquit\n")
    said = play("diaballik", typed="b1-b2\nb7-b6\nload b.txt\na7-a6\nquit\n").output
    left, other = re.findall(r"Kept as (\S+\.txt)\.", said)
    assert turns_in(left) == ["b1-b2", "b7-b6"]
    assert turns_in(other) == ["a1-a2", "a7-a6"]
    assert turns_in("b.txt") == ["a1-a2"]
    said = play("diaballik", "--new", typed=f"load {left}\nc1-c2\nquit\n").output
    assert f"Kept as {left}. `" in said, "a game that was kept here goes on in its own file"
    assert turns_in(left) == ["b1-b2", "b7-b6", "c1-c2"]


def test_loading_more_of_the_same_game_goes_on_in_its_file(play):
    typed = "b1-b2\nb7-b6\nsave a.txt\nundo\nload a.txt\nquit\n"
    said = play("diaballik", "--record", "c.txt", typed=typed).output
    assert said.count("Kept as ") == 1
    assert turns_in("c.txt") == ["b1-b2", "b7-b6"]


def test_no_other_game_is_loaded_while_the_one_before_cannot_be_kept(play, monkeypatch):
    play("diaballik", "--record", "b.txt", typed="a1-a2\nquit\n")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "x.txt")

    monkeypatch.setattr(game, "write_durably", full)
    said = play("diaballik", "--record", "x.txt", typed="c1-c2\nload b.txt\nquit\n", code=8).output
    assert "This game can't be kept (No space left on device), so no other is loaded." in said
    assert "1. black c1-c2" in said


@pytest.mark.parametrize(("options", "typed"), [(("--load", "g.txt"), ""), ((), "load g.txt\n")])
def test_undo_in_a_game_that_goes_on_takes_back_the_persons_turn(play, options, typed):
    program = ("--player", "white=random")
    play("diaballik", *program, "--record", "g.txt", typed="a1-a2\nb1-b2\nquit\n")
    play("diaballik", *program, *options, "--no-record", typed=f"{typed}undo\nsave a.txt\nquit\n")
    assert turns_in("a.txt") == turns_in("g.txt")[:2]
    play("diaballik", *options, "--no-record", typed=f"{typed}undo\nsave b.txt\nquit\n")
    assert turns_in("b.txt") == turns_in("g.txt")[:3], "without a program every turn is a person's"


def test_undo_in_a_game_that_goes_on_gives_no_second_roll(play):
    play("harvest", "--dice", "roll", "--record", "g.txt", typed="quit\n")
    going_on = ("harvest", "--load", "g.txt", "--no-record", "--seed", "3")
    assert "Nothing to undo." in play(*going_on, "--dice", "roll", typed="undo\nquit\n").output
    assert "Taken back." in play(*going_on, typed="undo\nquit\n").output, "this roll may have been typed"


def test_a_program_plays_on_in_a_game_that_goes_on(play, tmp_path, monkeypatch):
    left = play("diaballik", "--player", "white=random", typed="a1-a2\nquit\n").output
    (file,) = tmp_path.glob("*.txt")
    goes_on = f"`referee play diaballik --load {file.name} --player white=random` goes on"
    assert f"Kept as {file.name}. {goes_on}." in left
    assert ("White", "program (random)") in kept(tmp_path).tags
    mentioned = f"Not finished: Diaballik, 2 turns, white: program (random), {saved(file)}. {goes_on} with it."
    assert mentioned in play("diaballik", typed="quit\n").output
    monkeypatch.setattr(command, "_is_asked", lambda: True)
    lines = iter(["b1-b2", None, "resign", "y", None])
    monkeypatch.setattr(command, "_line_reader", lambda: lambda _: next(lines))
    question = f"A game is not finished (Diaballik, 2 turns, white: program (random), {saved(file)}). Go on with it?"
    assert question in play(typed="\n").output
    assert len(kept(tmp_path).entries) == 4
    assert "\nWhite wins: " in play("diaballik", "--player", "white=hint:gentle", typed="\n").output
    assert ("White", "program (gentle)") in kept(tmp_path).tags


def test_a_person_takes_a_programs_side_and_keeps_a_name(play, tmp_path, monkeypatch):
    play("diaballik", "--player", "white=random", "--name", "white=Robo", "--record", "r.txt", typed="a1-a2\n")
    assert ("White", "Robo") in read(Path("r.txt").read_text()).tags
    play("diaballik", "--player", "white=random", typed="a1-a2\nquit\n")
    monkeypatch.setattr(command, "_is_asked", lambda: True)
    lines = iter(["b1-b2", None])
    monkeypatch.setattr(command, "_line_reader", lambda: lambda _: next(lines))
    left = play("diaballik", "--player", "White=person", typed="\n").output
    assert "--player" not in left
    assert len(kept(tmp_path).entries) == 3
    assert "White" not in dict(kept(tmp_path).tags)


def test_a_loaded_game_that_was_kept_here_goes_on_in_its_file(play, tmp_path):
    play("diaballik", typed="a1-a2\nquit\n")
    (file,) = tmp_path.glob("*.txt")
    play("diaballik", "--load", file.name, typed="a7-a6\nresign\ny\n\n")
    assert len(kept(tmp_path).entries) == 3
    assert "Not finished" not in play("diaballik", typed="quit\n").output
    said = play("diaballik", "--load", file.name, typed="undo\nb1-b2\nquit\n").output
    assert "Kept as " in said
    assert f"Kept as {file.name}." not in said, "a finished game stays as it is"
    assert len(read(file.read_text()).entries) == 3


def test_a_game_under_a_name_of_its_own_goes_on_in_its_file(play, tmp_path):
    play("diaballik", "--record", "g.txt", typed="a1-a2\nquit\n")
    assert play("diaballik", "--load", "g.txt", "--record", "g.txt", typed="a7-a6\nquit\n").exit_code == 0
    assert len(read((tmp_path / "g.txt").read_text()).entries) == 2


def test_games_in_which_only_programs_play_are_not_interrupted(play):
    play("harvest", typed="4\nquit\n")
    assert "Not finished" in play("harvest", "--player", "p1=hint", typed="quit\n").output
    assert "Not finished" not in play("harvest", "--player", "p1=hint", "--player", "p2=hint").output
