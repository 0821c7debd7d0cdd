"""The judge's sentences for people. Each docstring names the situation in which its sentence is said."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from common.phrases import capitalized, listed
from engine.values import Breach, Place

_MOST_NAMED = 6
_MOST_TURNS = 3
_SAY_SO = "Please say what stands where and who plays next (./run table correct)."
_SAY_WHAT = "Please say what stands there (./run table correct)."


def _first_places(places: Sequence[Place]) -> list[str]:
    """Return the first places by name, and the number of the others."""
    others = [f"{len(places) - _MOST_NAMED} more"] if len(places) > _MOST_NAMED else []
    return [*places[:_MOST_NAMED], *others]


def begun(to_move: Sequence[str], to_draw: str = "") -> str:
    """The set-up was accepted; ``to_draw`` asks for what is drawn first, if anything."""
    if to_draw:
        return f"The board is set up. {capitalized(to_draw)}."
    who = listed([name.capitalize() for name in to_move], "or")
    return f"The board is set up. {who} to play." if len(to_move) == 1 else f"The board is set up. {who} begins."


def set_up_waits(pieces: int) -> str:
    """The table shows a possible start, but more pieces may follow."""
    return f"{pieces} pieces are on the board. If that is all, leave the table alone or press the button."


def please_check(place: Place, look: str) -> str:
    """A place of the set-up was read, but not with certainty."""
    return f"I think {place} shows: {look}. Please tell me if that is wrong."


def taken_as_usual(place: Place, look: str) -> str:
    """The set-up was accepted by sensors alone, as the game's usual start."""
    return (
        "I only sense where pieces stand, and assume the usual start with every piece turned as usual "
        f"({place}: {look}). If that is wrong, say so (./run table correct)."
    )


def unsensed_start(places: Sequence[Place]) -> str:
    """The set-up was accepted by sensors alone, without a few squares."""
    return f"I can't sense {listed(places)}, and assume that the usual start is set up there as well."


def unknown_pieces(places: Sequence[Place]) -> str:
    """Sensors report pieces on squares that are empty in the game's usual start."""
    return f"I sense pieces on {listed(places)}, and can't tell which. {_SAY_WHAT}"


def one_sensor_against_start(place: Place, *, taken: bool) -> str:
    """The set-up is the usual one except for one place with only a sensor."""
    sensed, check = ("a piece", "Take it off") if taken else ("nothing", "Put one there")
    return (
        f"This is the usual start, except that I sense {sensed} on {place}. {check}. If the board is right already, "
        f"the sensor is wrong; then please say how the pieces stand (./run table correct)."
    )


def unclear_set_up(places: Sequence[Place]) -> str:
    """Some places of the set-up can't be read."""
    named = _first_places(places)
    return f"I can't tell what stands on {listed(named)}. Please clear the view or place it again."


def unknown_set(places: Sequence[Place]) -> str:
    """Pieces seem to stand as at the start, but look like none that were taught."""
    named = _first_places(places)
    return (
        f"I can't tell what stands on {listed(named)}. If this is not the set I was taught, use that one or teach me "
        f"this one (./run pieces enrol). Otherwise check the light."
    )


def turned_set_up(quarters: int) -> str:
    """The set-up is a start turned by a quarter or half turn."""
    by = "half a turn" if quarters == 2 else "a quarter turn"
    return f"This is the start, but turned by {by}. Turn the board or the pieces back."


def fault(breaches: Sequence[Breach]) -> str:
    """What is wrong and how to put it right."""
    first = breaches[0]
    return first.sentence if first.remedy in first.sentence else f"{first.sentence} {first.remedy}"


def fault_sensed(breaches: Sequence[Breach]) -> str:
    """What is wrong, where sensors report pieces but not which."""
    return f"{fault(breaches)} (I only sense which squares are occupied.)"


def put_right() -> str:
    """The table is as it was before the fault."""
    return "Thank you. The board is right again."


def another_game(title: str, pieces: int) -> str:
    """Most of the table differs from the game's start."""
    return (
        f"This does not look like the start of {title}: most of its {pieces} squares with pieces show something else. "
        f"If this is another game, begin that one (./run watch --new --game NAME). "
        f"If this is not the set I was taught, use that one or teach me this one (./run pieces enrol)."
    )


def unchanged() -> str:
    """Nothing has happened."""
    return "Nothing has changed."


def game_over(reason: str) -> str:
    """The game has ended; the table is no longer judged."""
    return f"The game is over: {reason}."


def turn_waits(described: str) -> str:
    """The table shows a whole turn that hasn't ended yet."""
    return f"{described.rstrip('.')}, if the turn ends here."


def several_turns() -> str:
    """More than one turn explains the table, and nobody has ended one."""
    return "More than one turn seems to have been played."


def may_go_on(to_do: str) -> str:
    """The table shows a whole turn that may also continue."""
    return f"If the turn is over, the next player may go on, or press the button. If not: {to_do}"


def override_holds(places: Sequence[Place]) -> str:
    """The camera contradicts a person's correction."""
    return f"{listed(places)} {'looks' if len(places) == 1 else 'look'} different to me, but I go by what I was told."


def differs_from_correction(places: Sequence[Place]) -> str:
    """The camera contradicts a person's correction of a place that was hidden then."""
    look, them = ("looks", "it") if len(places) == 1 else ("look", "them")
    return (
        f"{listed(places)} {look} different from what I was told while I could not see {them}. "
        "If something was played there, press the button again."
    )


def taken_back(places: Sequence[Place], *, written: bool) -> str:
    """A turn was taken back, but the pieces still stand as after it, or it is still ``written`` there."""
    if written:
        return f"That turn was taken back. Please erase {listed(places)}."
    return f"That turn was taken back. Please put the pieces on {listed(places)} back as they were."


def not_a_turn_yet(places: Sequence[Place]) -> str:
    """No legal turn explains the table, but nobody has ended the turn."""
    return f"The turn isn't complete yet: {listed(places)} {'has' if len(places) == 1 else 'have'} changed."


def doubtful(places: Sequence[Place], shown: Mapping[Place, str]) -> str:
    """Some places can't be read for certain; those that show something new come first."""
    ordered = sorted(places, key=lambda place: place not in shown)
    parts = _first_places([f"{place} ({shown[place]}?)" if place in shown else place for place in ordered])
    return f"I am not sure what {listed(parts)} {'shows' if len(parts) == 1 else 'show'}. Please have a look."


def stalled(places: Sequence[Place], seconds: float) -> str:
    """Some places have been unreadable for long, while everything else is in sight."""
    them = "it" if len(places) == 1 else "them"
    return (
        f"I have not been able to read {listed(places)} for {seconds:.0f} seconds, so I go on without {them}. "
        f"Please clear {them}, or say what stands there (./run table correct)."
    )


def which_turn(described: Sequence[str]) -> str:
    """Several turns explain the table."""
    return f"This could be more than one turn: {_first_of(described)} Please say which."


def stacks_contradict(described: str, places: Sequence[Place]) -> str:
    """A single turn explains what is on top, but some stacks contradict it."""
    look = "doesn't look as it" if len(places) == 1 else "don't look as they"
    named = _first_places(places)
    return f"{described} But {listed(named)} {look} would after that. Please say what was played."


def sensed_otherwise(places: Sequence[Place]) -> str:
    """Some sensors contradict what the camera sees of a set-up."""
    return f"The sensors under {listed(places)} disagree with the camera; I trust the camera there."


def _first_of(described: Sequence[str]) -> str:
    """Return the first few of the described turns, and how many more there are."""
    named = list(described[:_MOST_TURNS])
    more = len(described) - len(named)
    if more:
        named.append(f"one of {more} other turns." if more > 1 else "one other turn.")
    return " Or: ".join(named)


def one_of(described: str, others: int) -> str:
    """The table shows a whole turn, one of several that leave the same appearance."""
    what = "another turn" if others == 1 else f"one of {others} other turns"
    return f"{described.rstrip('.')}, or {what}, if the turn ends here."


def which_sensed(described: Sequence[str], touched: Sequence[Place], *, unchanged: bool) -> str:
    """Several turns leave the same squares occupied, and sensors report no more."""
    what = "I sense the same squares occupied as before. If a turn was played, it" if unchanged else "What I sense"
    sensed = f" I sensed a touch on {listed(touched)}." if touched else ""
    return f"{what} could be: {_first_of(described)}{sensed} Please say which (./run table turn)."


def left_the_board(described: str) -> str:
    """A turn takes a piece off the board, unless a sensor missed the piece."""
    return (
        f"{described} I only know it from a sensor. Press the button again if that is right; "
        "otherwise check where the piece is."
    )


def piece_moved_on(described: str, to_do: str) -> str:
    """After a whole turn, its player moved the same piece again."""
    return (
        f"{described.rstrip('.')}, and then the same piece moved on? If so: {to_do} "
        "If not, put it back, or say what was played."
    )


def several_turns_sensed(places: Sequence[Place]) -> str:
    """Only more than one turn explains what sensors report."""
    return f"More than one turn seems to have been played on {listed(places)}. Please say which (./run table turn)."


def disputed(places: Sequence[Place]) -> str:
    """Camera and sensors contradict each other."""
    return (
        f"The camera and the sensors disagree about {listed(places)}. Please have a look. "
        "If the camera is right, press the button."
    )


def unsure(places: Sequence[Place], shown: Mapping[Place, str], disputes: Collection[Place]) -> str:
    """Some places can't be read for certain, or camera and sensors disagree about them."""
    disagreed = [place for place in places if place in disputes]
    others = [place for place in places if place not in disputes]
    said = [disputed(disagreed)] if disagreed else []
    said += [doubtful(others, shown)] if others else []
    return " ".join(said)


def unsure_of_fault(question: str, breaches: Sequence[Breach]) -> str:
    """A place can't be read for certain; as it is read, a rule is broken."""
    return f"{question} As I read it: {breaches[0].sentence}"


def against_sides(described: str) -> str:
    """A turn fits the tops of the pieces, but not the side faces seen."""
    return f"{described.rstrip('.')}? The sides of that block don't fit. Press the button again if it is right."


def piece_turned(breaches: Sequence[Breach]) -> str:
    """A piece elsewhere seems to have been turned on its place."""
    return f"{fault(breaches)} Or press the button again if it stands as it did."


def ruled_out_by_sides(described: str) -> str:
    """Several turns fit the tops of the pieces, but the side faces rule them out."""
    played = described.rstrip(".")
    return f"{played}? The sides don't fit: a piece was turned, or more than two turns were played. {_SAY_SO}"


def too_many_turns(places: Sequence[Place]) -> str:
    """More turns explain the table than the judge accepts."""
    return f"More than two turns seem to have been played on {listed(places)}, and I can't tell which. {_SAY_SO}"


def unexplained(places: Sequence[Place]) -> str:
    """Neither a turn nor a broken rule explains the table."""
    return f"I don't understand what happened on {listed(places)}. Please put it back, or correct me."


def no_roll_yet() -> str:
    """Dice are missing, moving or hidden."""
    return "That is not a roll yet: every die must lie still, flat and in sight."


def too_many_dice(there: int, needed: int) -> str:
    """More dice are there than are to be rolled."""
    return f"That is not a roll yet: of the {there} dice there, only {needed} should be rolled. Take the others away."


def roll_again(leaning: int) -> str:
    """So many dice are at rest but lean on something."""
    what = "a die is" if leaning == 1 else f"{leaning} dice are"
    return f"That roll doesn't count: {what} leaning on something. Please roll again."


def dice_lay_there() -> str:
    """A roll is awaited, but the dice have not moved."""
    return "The dice lie as before. Please roll them, or say what was rolled (./run table roll)."


def some_dice_lay_there(lying: int) -> str:
    """A roll is awaited, and so many of the dice have not moved."""
    what = "One die lies" if lying == 1 else f"{lying} dice lie"
    return f"{what} as before. Please roll all the dice, or say what was rolled (./run table roll)."


def same_roll(roll: str) -> str:
    """The dice were moved but show the same faces as before."""
    return f"The dice show {roll}, as before. Press the button if they were rolled again."


def which_roll(rolls: Sequence[str]) -> str:
    """The dice can't be read for certain."""
    said = f" They could show {listed(rolls, 'or')}." if rolls else ""
    return f"I can't read the dice for certain.{said} Please say what was rolled (./run table roll)."


def dice_changed(roll: str) -> str:
    """Dice were touched after they were read."""
    return f"The dice were touched. The roll that counts is {roll}."


def nothing_to_see() -> str:
    """No place could be read."""
    return "I can't see any square. Please clear the view of the board."


def out_of_sight(places: Sequence[Place]) -> str:
    """Something may have happened on places that are hidden."""
    named = _first_places(places)
    return f"I can't see what happened on {listed(named)}. Please clear the view."


def dropped_sighting(place: Place) -> str:
    """An impossible side face was read, and ignored."""
    return f"The sides of the piece on {place} looked unlike anything it can be; that sighting was not used."
