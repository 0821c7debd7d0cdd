"""Hints in the journal, and the side that the program plays.

It chooses turns and asks a person to play them, since it can't move pieces.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from common.phrases import Phrase, capitalized, did_you_mean, either, listed, without_stop
from engine.api import Clock, Game
from engine.errors import EngineError
from engine.values import Player
from referee.errors import ConfigError
from referee.hints.advice import (
    Advice,
    Answer,
    HintStrength,
    Question,
    Stage,
    answer_question,
    hint_text,
)
from referee.judge.verdict import AcceptedTurn, Verdict, VerdictKind
from referee.record.events import PRIVATE, Event, EventKind, JsonValue
from referee.record.fold import Folded, Intention


class HintSource(Protocol):
    """Works out hints while frames keep coming, such as ``frontends.hint_process.HintProcess``."""

    def ask(self, question: Question) -> None:
        """Start working out a question."""

    def poll(self) -> Sequence[Answer]:
        """Return the answers since the last call."""

    def close(self) -> None:
        """Release its resources."""


class ImmediateHints:
    """Works out hints synchronously."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: list[Answer] = []

    def ask(self, question: Question) -> None:
        """Work out the hint now."""
        self._answers.append(answer_question(question, self._clock))

    def poll(self) -> list[Answer]:
        """Return the answers since the last call."""
        answers, self._answers = self._answers, []
        return answers

    def close(self) -> None:
        """Do nothing, since nothing is open."""


def refusal_reason(game: Game[Any, Any], belief: Sequence[Any]) -> str:
    """Return the reason there can't be a hint now; empty if there can."""
    if not belief:
        return Phrase("the board is not set up yet")
    if game.rules.outcome(belief[0]) is not None:
        return Phrase("the game is over")
    if len({state.to_move for state in belief}) > 1:
        return Phrase("it is still open who starts")
    if to_draw := game.to_draw(belief[0]):
        return Phrase("first, {to_draw}", to_draw)
    if game.awaits_roll(belief[0]):
        return Phrase("{to_move} has to roll first", belief[0].to_move)
    return ""


def states_before(game: Game[Any, Any], folded: Folded[Any]) -> tuple[str, ...]:
    """Return the earlier states in notation, oldest first, without the current one and ends that were corrected."""
    states = [folded.start, *(step.states for step in folded.steps)]
    earlier = [each[0] for each in states[:-1] if each]
    return tuple(game.notation.format_state(state) for state in earlier if game.rules.outcome(state) is None)


def hint_event(
    game: Game[Any, Any],
    state: Any,
    advice: Advice,
    by: str,
    strength: str,
    stage: Stage,
    time_s: float | None,
    *,
    is_private: bool = False,
) -> Event:
    """Return the event that records a hint; raises EngineError if the turn is illegal in the state."""
    said = hint_text(game, state, advice, stage)
    data: dict[str, JsonValue] = {
        "by": by,
        "strength": strength,
        "stage": stage,
        "sentence": said.words,
        "places": list(said.places),
        **asdict(advice),
    }
    if is_private:
        data[PRIVATE] = True
    return Event(EventKind.HINT_GIVEN, data, time_s)


def recorded_advice(event: Event) -> Advice:
    """Return the advice of a recorded hint."""
    data: Mapping[str, Any] = event.data
    die = data.get("die")
    return Advice(
        turn=str(data["turn"]),
        player=str(data["player"]),
        reason=str(data.get("reason", "")),
        expected=float(data.get("expected", 0.0)),
        unit=str(data.get("unit", "win")),
        sure=float(data.get("sure", 0.0)),
        die=die if isinstance(die, int) else None,
    )


def position_key(game: Game[Any, Any], state: Any) -> object:
    """Return a position's key, which doesn't change when more of its hidden faces become known."""
    if game.side_faces is None:
        return game.notation.format_state(state)
    roll = None if game.dice is None else game.dice.roll_of(state)
    return state.to_move, tuple(game.table.appearance(state).items()), roll


@dataclass(frozen=True)
class OpponentSettings:
    """The side that the program plays, its strength, and its time limit for a turn, in seconds."""

    player: Player
    strength: HintStrength
    seconds: float


@dataclass(frozen=True)
class OpponentRequest:
    """A request to the people at the table: to roll, or to play the program's turn. ``event`` is recorded first."""

    words: str
    event: Event | None = None


def check_side(game: Game[Any, Any], side: Player) -> None:
    """Raise ConfigError for a side that the game doesn't have."""
    if side not in game.players:
        near = did_you_mean(side, game.players)
        raise ConfigError(
            "the opponent is to play {side!r}{near}; in {title} that is {players}",
            side,
            near,
            game.title,
            listed(game.players, "or"),
        )


class Opponent:
    """Chooses the turns of one side. It also plays in games in which hints are ruled out.

    ``source`` works out turns while frames keep coming. The journal records each intention, so a restart restores it.
    Raises ConfigError for a side that the game doesn't have.
    """

    def __init__(self, game: Game[Any, Any], settings: OpponentSettings, source: HintSource) -> None:
        check_side(game, settings.player)
        self._game = game
        self._settings = settings
        self._source = source
        self._number = 0
        self._asked = ""

    @property
    def player(self) -> Player:
        """The side that the program plays."""
        return self._settings.player

    @property
    def name(self) -> str:
        """The program's name in the list of players."""
        return Phrase("program ({strength})", self._settings.strength)

    def poll(self, states: Sequence[Any], folded: Folded[Any]) -> OpponentRequest | None:
        """Return a new request, if there is one, in the game so far. Call this only while no intention is open."""
        answers = self._source.poll()
        playing = self._to_play(states)
        if playing is None:
            self._asked = ""
            return None
        position = self._game.notation.format_state(playing)
        is_new, self._asked = position != self._asked, position
        if self._game.awaits_roll(playing):
            return OpponentRequest(self._roll_request(playing)) if is_new else None
        if is_new:
            self._number += 1
            self._source.ask(self._question(position, folded))
            answers = self._source.poll()
        for answer in answers:
            if answer.number == self._number:
                if answer.advice is None:
                    return self._refusal(answer.refused)
                # Forget the question, so that it is asked again after a take-back.
                self._asked = ""
                return self._make_request(states[0], answer.advice)
        return None

    def _roll_request(self, state: Any) -> str:
        if to_draw := self._game.to_draw(state):
            return f"{capitalized(to_draw)}."
        return Phrase("{player} is to roll. Please roll for it.", capitalized(self.player))

    def _question(self, position: str, folded: Folded[Any]) -> Question:
        earlier = states_before(self._game, folded)
        settings = self._settings
        return Question(self._number, self._game.name, position, settings.strength, settings.seconds, earlier)

    def _refusal(self, why: str) -> OpponentRequest:
        return OpponentRequest(Phrase("{player} finds no turn: {why}.", capitalized(self.player), without_stop(why)))

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    def _to_play(self, states: Sequence[Any]) -> Any | None:
        """Return the state in which the program must play or roll, ``None`` if it isn't its turn."""
        if len({each.to_move for each in states}) != 1:
            return None
        rules, state = self._game.rules, states[0]
        if rules.outcome(state) is not None:
            return None
        if self.player not in rules.players_to_move(state):
            return None
        while state.to_move != self.player:
            # Players who write at the same time use their own sheets, so any of their turns will do here.
            others = state.to_move
            state = rules.apply(state, next(turn for turn in rules.legal_turns(state) if turn.player == others))
        return state

    def _make_request(self, state: Any, advice: Advice) -> OpponentRequest:
        try:
            meant = self._game.notation.parse_turn(state, advice.turn, self.player)
        except EngineError as error:
            return self._refusal(str(error))
        if meant.places:
            words = either(
                self._game.has_sheets,
                "{describe} Please write it for {player}.",
                "{describe} Please move it for {player}.",
                self._game.notation.describe(meant),
                self.player,
            )
        else:
            # The table looks the same after such a turn, so somebody has to say that it was played.
            turn = _turn_to_type(self._game, state, self.player, advice.turn)
            words = Phrase(
                "{describe} Please play it for {player}, and say: turn {turn}.",
                self._game.notation.describe(meant),
                self.player,
                turn,
            )
        data: dict[str, JsonValue] = {
            "player": self.player,
            "turn": advice.turn,
            "strength": self._settings.strength,
            "sentence": words,
            "places": list(meant.places),
        }
        return OpponentRequest(words, Event(EventKind.INTENTION, data))


def is_meant(game: Game[Any, Any], intention: Intention, state: Any, step: AcceptedTurn) -> bool:
    """Whether a seen turn is the intended one, or makes the places it touches look the same."""
    if game.notation.format_turn(step.turn) == intention.turn:
        return True
    try:
        meant = game.rules.apply(state, game.notation.parse_turn(state, intention.turn, intention.player))
    except EngineError:
        # The intended turn became illegal because more of the table has been seen since.
        return True
    looks = game.table.appearance(meant)
    seen = game.table.appearance(step.states[0])
    return all(looks[place] == seen[place] for place in (*intention.places, *step.turn.places))


def other_turn_verdict(
    game: Game[Any, Any], intention: Intention, state: Any, step: AcceptedTurn, asked: Verdict
) -> Verdict:
    """Return a verdict that asks for the intended turn after another one was played; ``asked`` is replaced by it."""
    played, text = step.turn, game.notation.format_turn(step.turn)
    turn = _turn_to_type(game, state, played.player, text)
    sentence = Phrase(
        "{describe} The rules allow it, but the program chose another turn. {words} To keep this "
        "one, say: turn {turn}.",
        game.notation.describe(played),
        intention.words,
        turn,
    )
    places = tuple(dict.fromkeys((*played.places, *intention.places)))
    return Verdict(
        VerdictKind.AMBIGUOUS,
        sentence,
        asked.time_s,
        asked.sequence,
        candidates=(intention.turn, text),
        candidate_players=(intention.player, played.player),
        places=places,
        margin=asked.margin,
    )


def _turn_to_type(game: Game[Any, Any], state: Any, player: Player, turn: str) -> str:
    """Return what to type after ``turn``: the player too, where several may play now."""
    return f"{player} {turn}" if len(game.rules.players_to_move(state)) > 1 else turn
