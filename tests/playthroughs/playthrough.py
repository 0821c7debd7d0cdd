"""Playthroughs: a whole game written out with every state, legal turn and look, as a regression test of the rules.

A playthrough begins with its inputs: the game, its options or start, and the index of the legal turn chosen each time
(modulo their number). If dice are rolled, a choice is the index of a possible roll. ``replayed`` generates the text
again from these lines with the current code, so any difference is a change of behaviour.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from engine.api import Game
from engine.errors import UnreadableError
from engine.registry import load
from engine.showing import MOST_DRAWN_FROM, turns_to_draw_from, unfinished_showing
from engine.support.chance import format_roll
from engine.values import EMPTY, OptionValue

Item = TypeVar("Item")

_HIDDEN = "hidden: yes"
_MOST_LISTED = 200
_SAMPLED = 40


def playthrough(
    name: str, choices: Sequence[int], options: Mapping[str, OptionValue] | None = None, *, hidden: bool = False
) -> str:
    """Play ``choices`` from the game's start and write everything out; the text ends with a newline.

    With ``hidden``, the start is what can be seen of it, and hidden faces are unknown. The game may end early.
    """
    game = load(name)
    given = dict(options or {})
    lines = [f"game: {game.name}", *(f"option: {key}={value}" for key, value in sorted(given.items()))]
    lines += [_HIDDEN] if hidden else []
    lines.append(f"choices: {' '.join(str(choice) for choice in choices)}")
    state = game.rules.new(given)
    if hidden:
        state = game.table.set_up(game.table.appearance(state), given)
    for ply, choice in enumerate(choices):
        lines += ["", f"ply {ply}", *_described(game, state)]
        turns = turns_to_draw_from(game, state)
        if game.dice is not None and (rolls := game.dice.possible_rolls(state)):
            roll = rolls[choice % len(rolls)].roll
            lines.append(f"rolls: {format_roll(roll)}")
            state = game.dice.rolled(state, roll)
        elif turns:
            turn = turns[choice % len(turns)]
            lines.append(f"plays: {_named(game, state, turn)} ({game.notation.describe(turn)})")
            state = game.rules.apply(state, turn)
        else:
            break
    lines += ["", "end", *_described(game, state)]
    return "\n".join(lines) + "\n"


def _described(game: Game[Any, Any], state: Any) -> list[str]:
    before = game.table.appearance(state)
    seen = {place: look for place, look in before.items() if look != EMPTY}
    facings = {} if game.side_faces is None else game.side_faces.facings(state)
    lines = [f"state: {game.notation.format_state(state)}", f"to move: {state.to_move}"]
    several = game.rules.players_to_move(state)[1:]
    lines += [f"also to move: {', '.join(several)}"] if several else []
    scores = {} if game.scores is None else game.scores(state)
    lines += [f"scores: {', '.join(f'{player} {points}' for player, points in scores.items())}"] if scores else []
    lines += [f"look: {place}: {look}{_sides(facings.get(place, ()))}" for place, look in seen.items()]
    lines += _choices(game, state)
    for position in unfinished_showing(game, state, {}):
        # In the order of the board, like everything else here.
        changed = {
            place: position.change[place]
            for place in before
            if position.change.get(place, before[place]) != before[place]
        }
        lines.append(f"unfinished: {changed} {position.instruction}")
    lines.append(f"outcome: {game.rules.outcome(state)}")
    return lines


def _choices(game: Game[Any, Any], state: Any) -> list[str]:
    """The possible rolls or legal turns; of very many, an evenly spaced selection."""
    if game.dice is not None and (rolls := game.dice.possible_rolls(state)):
        return [
            f"possible rolls {len(rolls)}{_apart(rolls)}:",
            *(f"  {format_roll(each.roll)} {each.probability}" for each in _sampled(rolls)),
        ]
    turns = turns_to_draw_from(game, state)
    more = " or more" if game.lists_turns_slowly and len(turns) == MOST_DRAWN_FROM else ""
    lines = [f"legal {len(turns)}{more}{_apart(turns)}:"]
    return lines + [
        f"  {_named(game, state, turn)} {game.rules.certainty(state, turn).value}" for turn in _sampled(turns)
    ]


def _named(game: Game[Any, Any], state: Any, turn: Any) -> str:
    """A turn's text, with its player if several may play."""
    text = game.notation.format_turn(turn)
    return text if len(game.rules.players_to_move(state)) < 2 else f"{turn.player} {text}"


def _sampled(items: Sequence[Item]) -> Sequence[Item]:
    if len(items) <= _MOST_LISTED:
        return items
    return [items[number * len(items) // _SAMPLED] for number in range(_SAMPLED)]


def _apart(items: Sequence[Item]) -> str:
    return "" if len(items) <= _MOST_LISTED else f", of which {_SAMPLED}"


def _sides(facings: Sequence[Mapping[str, str]]) -> str:
    return "".join(f" ({', '.join(f'{side} {symbol}' for side, symbol in facing.items())})" for facing in facings)


def replayed(text: str) -> str:
    """Generate a playthrough again from its opening lines; raises UnreadableError."""
    name, choices, options, hidden = "", None, {}, False
    for line in text.partition("\n\n")[0].splitlines():
        key, _, value = line.partition(": ")
        if key == "game":
            name = value
        elif key == "option":
            option, _, setting = value.partition("=")
            options[option] = setting
        elif key == "choices" and all(choice.isdecimal() for choice in value.split()):
            choices = [int(choice) for choice in value.split()]
        elif line == _HIDDEN:
            hidden = True
        else:
            raise UnreadableError(
                f"cannot read {line!r} in a playthrough; expected game:, option:, hidden: or choices:"
            )
    if choices is None:
        raise UnreadableError("the playthrough names no choices; expected a line such as 'choices: 3 0 12'")
    return playthrough(name, choices, options, hidden=hidden)
