"""Players, and their announcements: resigning, an agreed draw, a claimed repetition; with their texts."""

from collections.abc import Sequence
from typing import Any

from common.phrases import Phrase, capitalized, chained, either, joined, listed
from engine.api import Game, State
from engine.errors import UnreadableError
from engine.values import Announcement, Outcome, Player


def opponent(players: Sequence[Player], player: Player) -> Player:
    """Return the other one of two players."""
    return players[1] if player == players[0] else players[0]


def one_to_move(state: State) -> tuple[Player, ...]:
    """Return the player who may play now; empty if the game is over."""
    return () if state.to_move is None else (state.to_move,)


def check_player(players: Sequence[Player], named: Player | None) -> None:
    """Raise UnreadableError for a name that is not a player's."""
    if named is not None and named not in players:
        expected = listed(players, "or") if len(players) == 2 else Phrase("one of {names}", joined(players, ", "))
        raise UnreadableError(Phrase("there is no player {places!r}; expected {expected}", named, expected))


def mover_after_correction(players: Sequence[Player], named: Player | None, before: Player | None) -> Player:
    """Return the player to move in a corrected position: the one named by a person, else the one before.

    Raises UnreadableError if the game was over and nobody is named.
    """
    mover = named or before
    if mover is None:
        raise UnreadableError(Phrase("the game was over, so say who is to play: {players}", chained(players, "or")))
    return mover


RESIGN = "resign"
DRAW = "draw"
REPETITION = "repetition"
LETTER = "letter-"
"""What is said on circling a letter of a sheet begins like this: ``letter-a``."""
EVERYONE = "all"


def who_plays(game: Game[Any, Any], start: Any) -> tuple[Player, ...]:
    """Return the players of a starting state, in the game's order: those who may resign, or all if nobody may."""
    playing = {said.player for said in game.rules.announcements(start) if said.kind == RESIGN}
    return tuple(player for player in game.players if player in playing) or game.players


def common_announcements(players: Sequence[Player]) -> tuple[Announcement, ...]:
    """Return the announcements that a two-player game always allows: both agree on a draw, or either player resigns."""
    return (Announcement(DRAW), *(Announcement(RESIGN, player) for player in players))


def outcome_of_announcement(announcement: Announcement, players: Sequence[Player]) -> Outcome:
    """Return the outcome of a two-player game that ended by resigning, an agreed draw or a claimed repetition.

    Raises ValueError for another kind.
    """
    if announcement.kind == RESIGN and announcement.player in players:
        winner = next(player for player in players if player != announcement.player)
        return Outcome(winner, Phrase("{player} resigned", announcement.player))
    if announcement.kind == DRAW:
        return Outcome(None, Phrase("both agreed on a draw"))
    if announcement.kind == REPETITION:
        return Outcome(None, Phrase("{player} claimed a draw: the position came up three times", announcement.player))
    raise ValueError(f"got {announcement}; expected one of {RESIGN}, {DRAW}, {REPETITION}")


def format_announcement(announcement: Announcement) -> str:
    """Write an announcement in its strict text form: ``white:resign``, ``all:draw``."""
    return f"{announcement.player or EVERYONE}:{announcement.kind}"


def describe_announcement(announcement: Announcement) -> str:
    """Describe an announcement: ``Gold resigns.``, ``Draw agreed.``, ``P2 circles the letter A.``"""
    if announcement.kind == RESIGN:
        return Phrase("{player} resigns.", capitalized(str(announcement.player)))
    if announcement.kind == DRAW:
        return Phrase("Draw agreed.")
    who = capitalized(announcement.player or EVERYONE)
    if announcement.kind == REPETITION:
        return Phrase("{who} claims a draw: the position came up three times.", who)
    if announcement.kind.startswith(LETTER):
        return Phrase("{who} circles the letter {letter}.", who, announcement.kind.removeprefix(LETTER).upper())
    return either(announcement.player, "{who} announces {kind}.", "{who} announce {kind}.", who, announcement.kind)


def announcement_in(text: str, players: Sequence[Player]) -> Announcement | None:
    """Return what ``black: anti-play`` announces; ``None`` unless it is a player, a colon and a word of letters."""
    try:
        said = parse_announcement(text, players)
    except UnreadableError:
        return None
    return said if said.kind.replace("-", "").isalpha() else None


def parse_announcement(text: str, players: Sequence[Player]) -> Announcement:
    """Read an announcement leniently (case, spaces); raises UnreadableError."""
    player, colon, kind = (part.strip().lower() for part in text.partition(":"))
    if not colon or not kind or player not in (*players, EVERYONE):
        raise UnreadableError(
            Phrase(
                "cannot read {text!r} as an announcement; expected one of {names}, {everyone}, a "
                "colon and what is said, such as '{player}:{resign}'",
                text,
                joined(players, ", "),
                EVERYONE,
                players[0],
                RESIGN,
            ),
            1,
        )
    return Announcement(kind, None if player == EVERYONE else player)
