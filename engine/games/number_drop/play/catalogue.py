"""The catalogue of Number Drop's rules, by id. ``docs/games/number-drop.md`` lists the same; a test compares them."""

from __future__ import annotations

from engine.api import Rule
from engine.support.breaches import catalogue

RULES = catalogue(
    Rule("game-over", "When the game is over, nothing more is written."),
    Rule(
        "roll-first", "The dice are rolled before anything is written, and the tiles are drawn before the first digit."
    ),
    Rule("not-your-turn", "Each player writes once: who is done, or has nothing to do, waits for the others."),
    Rule("not-now", "Do what the turn asks for now: a digit, a slide, a penalty or a shape."),
    Rule("resigned", "Who has resigned writes no more."),
    Rule("set-up-one-digit", "In the set-up every player writes one digit."),
    Rule("set-up-own-number", "In the set-up the first player writes a 1, the second a 2, and so on."),
    Rule("set-up-lowest-line", "The first digit stands on the lowest line."),
    Rule("written-stays", "What is written stays as it is."),
    Rule("loop-stays", "A loop once drawn stays, and its digits stay inside."),
    Rule("digits-only", "Your own shape is made of digits; an X is for penalties."),
    Rule("four-digits", "A drop writes the four number dice, each once."),
    Rule("digits-as-rolled", "The digits are those of the dice; a star may be any digit."),
    Rule("shape-as-rolled", "The digits form the shape that the shape die shows, turned and flipped as you like."),
    Rule("crosses-only", "A penalty is written in X only."),
    Rule("penalty-shape", "A penalty has the shape on the tile, turned and flipped as you like."),
    Rule("penalty-protected", "Who has circled the letter doesn't drop its penalty."),
    Rule("falls-to-rest", "A shape falls until it rests on the floor or on what lies below it."),
    Rule("straight-down", "A shape falls straight down from the top; it can't pass what is in its way."),
    Rule("drop-first", "A combination is drawn after your own drop, before the next roll."),
    Rule("combination-of-digits", "A combination is made of digits, never of an X or an open cell."),
    Rule("digit-used", "A digit belongs to one combination only."),
    Rule("combination-size", "A combination has three to eight digits."),
    Rule("combination-kind", "The digits of a combination are all equal, or rise by one from each to the next."),
    Rule("combination-side-by-side", "The digits of a combination touch by their sides, consecutive ones in order."),
    Rule("box-filled", "Each combination is scored once."),
    Rule("one-combination", "One combination a turn."),
    Rule("letter-needs-both", "A letter is circled with the combination that fills both boxes of its size."),
    Rule("letter-crossed-off", "A letter that is crossed off can't be circled any more."),
    Rule("slide-at-bottom", "A tile at the bottom slides no further."),
    Rule("slide-star-tile", "A star slides the tile with the shape that the shape die shows."),
)
