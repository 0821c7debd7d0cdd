"""The judge's sentences for people. Each docstring names the situation in which its sentence is said."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from common.phrases import Phrase, capitalized, chained, either, joined, listed, without_stop
from engine.values import EMPTY, Breach, Place
from vision.reading import HindranceKind

_MOST_NAMED = 6
_MOST_TURNS = 3
_MOST_DOUBTS = 3
NOTHING_TO_SEE = Phrase("I can't see any square. Please clear the view of the board.")
NOTED = Phrase("The end of the turn is noted.")
_OR_SAY = Phrase("or say what stands there (./run table correct).")
SAY_SO = Phrase("Please say what stands where and who plays next (./run table correct).")


def _named(places: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Name the first places, and the number of the others."""
    others = [Phrase("{part} more", len(places) - most)] if len(places) > most else []
    return listed([*places[:most], *others])


def begun(to_move: Sequence[str], awaited: str = "") -> str:
    """The set-up was accepted; ``awaited`` asks for what is rolled or drawn first, if anything."""
    if awaited:
        return Phrase("The board is set up. {awaited}", capitalized(awaited))
    who = listed([name.capitalize() for name in to_move], "or")
    return (
        Phrase("The board is set up. {who} to play.", who)
        if len(to_move) == 1
        else Phrase("The board is set up. {who} begins.", who)
    )


def set_up_waits(pieces: int) -> str:
    """The table shows a possible start, but more pieces may follow."""
    return Phrase(
        "{pieces} pieces are on the board. If that is all, leave the table alone or press the button.", pieces
    )


def one_sensor_against_start(place: Place, *, taken: bool) -> str:
    """The set-up is the usual one except for one place with only a sensor."""
    return either(
        taken,
        "This is the usual start, except that I sense a piece on {place}. Take it off. If the "
        "board is right already, the sensor is wrong; then please say how the pieces stand (./run "
        "table correct).",
        "This is the usual start, except that I sense nothing on {place}. Put one there. If the "
        "board is right already, the sensor is wrong; then please say how the pieces stand (./run "
        "table correct).",
        place,
    )


def unclear_set_up(places: Sequence[Place]) -> str:
    """Some places of the set-up can't be read."""
    return Phrase("I can't tell what stands on {named}. Please clear the view or place it again.", _named(places))


def unknown_set(places: Sequence[Place]) -> str:
    """Pieces seem to stand as at the start, but look like none that were taught."""
    return Phrase(
        "I can't tell what stands on {named}. If this is not the set I was taught, use that one or "
        "teach me this one (./run pieces enrol). Otherwise check the light.",
        _named(places),
    )


def turned_set_up(quarters: int) -> str:
    """The set-up is a start turned by a quarter or half turn."""
    return either(
        quarters == 2,
        "This is the start, but turned by half a turn. Turn the board or the pieces back.",
        "This is the start, but turned by a quarter turn. Turn the board or the pieces back.",
    )


def fault(breaches: Sequence[Breach]) -> str:
    """What is wrong and how to put it right."""
    first = breaches[0]
    return first.sentence if first.remedy in first.sentence else joined((first.sentence, first.remedy))


def override_holds(places: Sequence[Place]) -> str:
    """The camera contradicts a person's correction."""
    return either(
        len(places) == 1,
        "{places} looks different to me, but I go by what I was told.",
        "{places} look different to me, but I go by what I was told.",
        listed(places),
    )


def unchanged(overruled: Sequence[Place]) -> str:
    """Nothing has happened, though ``overruled`` places look different from what a person said."""
    if not overruled:
        return Phrase("Nothing has changed.")
    return joined((override_holds(overruled), Phrase("Nothing else has changed.")))


def put_right(overruled: Sequence[Place]) -> str:
    """A fault is gone, or a person has settled it although ``overruled`` places look different."""
    return override_holds(overruled) if overruled else Phrase("Thank you. The board is right again.")


MOST_SPELT_OUT = 4
"""The most places whose looks an answer names one by one: more would fill a phone."""


def as_believed(looks: Mapping[Place, str]) -> str:
    """What a person may answer who is asked about places: that these ``looks`` stand there, without a stop."""
    if len(looks) > MOST_SPELT_OUT:
        return Phrase("{count} squares are as drawn here", len(looks))
    empty = [place for place, look in looks.items() if look == EMPTY]
    said: list[str] = [Phrase("{place}: {look}", place, look) for place, look in looks.items() if look != EMPTY]
    if empty:
        said.append(either(len(empty) == 1, "{places} is empty", "{places} are empty", listed(empty)))
    return joined(said, "; ")


def differs_from_correction(places: Sequence[Place]) -> str:
    """The camera contradicts a person's correction of a place that was hidden then."""
    return either(
        len(places) == 1,
        "{places} looks different from what I was told while I could not see it. If something was "
        "played there, press the button again.",
        "{places} look different from what I was told while I could not see them. If something was "
        "played there, press the button again.",
        listed(places),
    )


def facing_unknown(piece: str, place: Place, remedy: str) -> str:
    """The sides of a piece don't fit the turn that brought it there, and were not seen then."""
    return Phrase(
        "I can't tell how the {piece} on {place} is turned. I did not see its sides clearly when it was played, and "
        "what I see of them now doesn't fit. {remedy} Or press the button again if it stands as it was played.",
        piece,
        place,
        remedy,
    )


def taken_back(places: Sequence[Place], *, written: bool) -> str:
    """A turn was taken back, but the pieces still stand as after it, or it is still ``written`` there."""
    if written:
        return Phrase("That turn was taken back. Please erase {places}.", listed(places))
    return Phrase("That turn was taken back. Please put the pieces on {places} back as they were.", listed(places))


def not_a_turn_yet(places: Sequence[Place]) -> str:
    """No legal turn explains the table, but nobody has ended the turn."""
    return either(
        len(places) == 1,
        "The turn isn't complete yet: {places} has changed.",
        "The turn isn't complete yet: {places} have changed.",
        listed(places),
    )


def doubtful(places: Sequence[Place], shown: Mapping[Place, str]) -> str:
    """Some places can't be read for certain; those that show something new come first. Many are counted."""
    ordered = sorted(places, key=lambda place: place not in shown)
    if len(ordered) > _MOST_DOUBTS:
        named = _named(ordered, _MOST_DOUBTS)
        return Phrase("I am not sure about {count} squares: {named}. Please have a look.", len(ordered), named)
    parts = [Phrase("{place} ({look}?)", place, shown[place]) if place in shown else place for place in ordered]
    return either(
        len(parts) == 1,
        "I am not sure what {parts} shows. Please have a look.",
        "I am not sure what {parts} show. Please have a look.",
        _named(parts),
    )


BAD_PICTURE: Mapping[HindranceKind, Phrase] = MappingProxyType(
    {
        HindranceKind.DARK: Phrase("Please turn on a lamp."),
        HindranceKind.GLARE: Phrase("Please turn the lamp away."),
        HindranceKind.HAZE: Phrase("Please wipe the lens."),
        HindranceKind.BLUR: Phrase("The picture is blurred. Please turn the lens, and hold the camera still."),
        HindranceKind.COARSE: Phrase("Please bring the camera nearer, or raise the quality and size of its pictures."),
        HindranceKind.OUTSIDE_PICTURE: Phrase("Please have all of the table in the picture."),
    }
)
"""What puts right what nobody can take off the board."""


def stalled(places: Sequence[Place], seconds: float, why: HindranceKind | None = None) -> str:
    """Some places have been unreadable for long; ``why``: in such a picture."""
    said = listed(places)
    if why is HindranceKind.DARK:
        return Phrase("It is too dark to see {places}. Turn on a lamp, {or_say}", said, _OR_SAY)
    if why is HindranceKind.GLARE:
        return Phrase("The light is too bright to see {places}. Turn the lamp away, {or_say}", said, _OR_SAY)
    if why is HindranceKind.HAZE:
        return Phrase("The picture is too hazy to show {places}. Wipe the lens, {or_say}", said, _OR_SAY)
    if why is HindranceKind.BLUR:
        return Phrase("The picture is too blurred to show {places}. Turn the lens, {or_say}", said, _OR_SAY)
    if why is HindranceKind.COARSE:
        return Phrase(
            "The picture is too coarse to show {places}. Bring the camera nearer, raise the quality and size of its "
            "pictures, {or_say}",
            said,
            _OR_SAY,
        )
    return either(
        len(places) == 1,
        "I have not been able to read {places} for {seconds} seconds, so I go on without it. "
        "Please clear it, or say what stands there (./run table correct).",
        "I have not been able to read {places} for {seconds} seconds, so I go on without them. "
        "Please clear them, or say what stands there (./run table correct).",
        said,
        f"{seconds:.0f}",
    )


def which_turn(described: Sequence[str], differing: Sequence[Place] = ()) -> str:
    """Several turns explain the table; ``differing`` are the places on which they leave different numbers of pieces."""
    return either(
        differing,
        "This could be more than one turn: {first_of} They leave stacks of different heights on {places}. Please say "
        "which.",
        "This could be more than one turn: {first_of} Please say which.",
        first_of=_first_of(described),
        places=_named(differing),
    )


def stacks_contradict(described: str, places: Sequence[Place]) -> str:
    """A single turn explains what is on top, but some stacks contradict it."""
    return either(
        len(places) == 1,
        "{described} But {named} doesn't look as it would after that. Please say what was played.",
        "{described} But {named} don't look as they would after that. Please say what was played.",
        described,
        _named(places),
    )


def _first_of(described: Sequence[str]) -> str:
    """Return the first few of the described turns, and how many more there are."""
    named = list(described[:_MOST_TURNS])
    more = len(described) - len(named)
    if more:
        named.append(Phrase("one of {more} other turns.", more) if more > 1 else Phrase("one other turn."))
    return chained(named, "Or:")


def which_sensed(described: Sequence[str], touched: Sequence[Place], *, unchanged: bool) -> str:
    """Several turns leave the same squares occupied, and sensors report no more."""
    return (
        either(
            touched,
            "I sense the same squares occupied as before. If a turn was played, it could be: "
            "{first_of} I sensed a touch on {touched}. Please say which (./run table turn).",
            "I sense the same squares occupied as before. If a turn was played, it could be: "
            "{first_of} Please say which (./run table turn).",
            first_of=_first_of(described),
            touched=listed(touched),
        )
        if unchanged
        else either(
            touched,
            "What I sense could be: {first_of} I sensed a touch on {touched}. Please say which (./run table turn).",
            "What I sense could be: {first_of} Please say which (./run table turn).",
            first_of=_first_of(described),
            touched=listed(touched),
        )
    )


def left_the_board(described: str) -> str:
    """A turn takes a piece off the board, unless a sensor missed the piece."""
    return Phrase(
        "{described} I only know it from a sensor. Press the button again if that is right; "
        "otherwise check where the piece is.",
        described,
    )


def disputed(places: Sequence[Place]) -> str:
    """Camera and sensors contradict each other."""
    return Phrase(
        "The camera and the sensors disagree about {places}. Please have a look. If the camera is "
        "right, press the button.",
        listed(places),
    )


def unsure(
    places: Sequence[Place],
    shown: Mapping[Place, str],
    disputes: Collection[Place],
    hindrances: Collection[HindranceKind] = (),
) -> str:
    """Some places can't be read for certain, perhaps in a bad picture, or camera and sensors disagree about them."""
    disagreed = [place for place in places if place in disputes]
    others = [place for place in places if place not in disputes]
    said = [disputed(disagreed)] if disagreed else []
    said += [doubtful(others, shown)] if others else []
    said += [BAD_PICTURE[kind] for kind in BAD_PICTURE if kind in hindrances and others][:1]
    return joined(said)


def missed(
    places: Sequence[Place],
    shown: Mapping[Place, str],
    disputes: Collection[Place],
    hindrances: Collection[HindranceKind] = (),
) -> str:
    """A piece has left its place, and may be on any of these, which can't be read for certain."""
    said = unsure(places, shown, disputes, hindrances)
    if any(kind in hindrances for kind in BAD_PICTURE):
        return said
    return joined((said, Phrase("A nearer camera, larger pictures or more light would help.")))


def unexplained(places: Sequence[Place]) -> str:
    """Neither a turn nor a broken rule explains the table."""
    return Phrase("I don't understand what happened on {places}. Please put it back, or correct me.", listed(places))


def some_dice_lay_there(lying: int) -> str:
    """A roll is awaited, and so many of the dice have not moved."""
    return either(
        lying == 1,
        "One die lies as before. Please roll all the dice, or say what was rolled (./run table roll).",
        "{lying} dice lie as before. Please roll all the dice, or say what was rolled (./run table roll).",
        lying=lying,
    )


def which_roll(rolls: Sequence[str]) -> str:
    """The dice can't be read for certain."""
    return either(
        rolls,
        "I can't read the dice for certain. They could show {rolls}. Please say what was rolled (./run table roll).",
        "I can't read the dice for certain. Please say what was rolled (./run table roll).",
        rolls=listed(rolls, "or"),
    )


def out_of_sight(places: Sequence[Place], why: HindranceKind | None = None) -> str:
    """Something may have happened on places that are hidden; ``why``: in such a picture."""
    if why is not None and why in BAD_PICTURE:
        return Phrase("The picture doesn't show what happened on {named}. {remedy}", _named(places), BAD_PICTURE[why])
    return Phrase("I can't see what happened on {named}. Please clear the view.", _named(places))


def dropped_sighting(place: Place) -> str:
    """An impossible side face was read, and ignored."""
    return Phrase(
        "The sides of the piece on {place} looked unlike anything it can be; that sighting was not used.", place
    )


def turn_waits(described: str, others: int) -> str:
    """The table shows a whole turn that hasn't ended yet, or one of several that leave the same appearance."""
    said = without_stop(described)
    if not others:
        return Phrase("{described}, if the turn ends here.", said)
    return either(
        others == 1,
        "{described}, or another turn, if the turn ends here.",
        "{described}, or one of {others} other turns, if the turn ends here.",
        described=said,
        others=others,
    )


def no_roll_yet(leaning: int, there: int, needed: int) -> str:
    """Some dice lean on something, or more are there than are to be rolled, or some are missing, moving or hidden."""
    if leaning:
        return either(
            leaning == 1,
            "That roll doesn't count: a die is leaning on something. Please roll again.",
            "That roll doesn't count: {leaning} dice are leaning on something. Please roll again.",
            leaning=leaning,
        )
    if there > needed:
        return Phrase(
            "That is not a roll yet: of the {there} dice there, only {needed} should be rolled. Take the others away.",
            there,
            needed,
        )
    if 0 < there < needed:
        return Phrase(
            "That is not a roll yet: I see only {there} of {needed} dice. Every die must lie still, flat and in sight.",
            there,
            needed,
        )
    return Phrase("That is not a roll yet: every die must lie still, flat and in sight.")
