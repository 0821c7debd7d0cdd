"""The catalogue of Blockade's rules, by id. ``docs/games/blockade.md`` lists the same and a test compares them."""

from __future__ import annotations

from engine.api import Rule
from engine.support.breaches import rules_by_id

RULES = rules_by_id(
    Rule(
        "wrong-start", "The game starts from its one set-up: larges, a small on each coloured one, mediums in corners."
    ),
    Rule("game-over", "When the game is over, and at the fifth tower it is at once, nothing moves any more."),
    Rule("not-your-turn", "Players take turns: wait until it is your turn."),
    Rule("roll-first", "Roll both dice, then move."),
    Rule("moved-opponent-piece", "Move only pieces of your own two colours."),
    Rule("large-moved", "Large pieces never move."),
    Rule("black-moved", "A black piece stays on its tower."),
    Rule("passed-over-blockade", "Nothing passes over, or onto, the other player's blockades."),
    Rule("too-many-points", "Each colour takes at most as many steps as its die shows."),
    Rule("sum-for-one-colour", "Dice that both show three or less may be added up, but only for one colour."),
    Rule("rested-on-other-colour", "A piece never rests on a piece of another colour, not even your own other one."),
    Rule("rested-on-smaller", "A piece rests on its own colour only where the piece below is at least as big."),
    Rule("rested-on-other-blockade", "A piece rests on black only where the tower below has its own colour."),
    Rule("rested-on-black-not-larger", "A piece rests only on a black piece that is larger."),
    Rule("tower-not-capped", "A new tower gets a black piece at once."),
    Rule("largest-black-first", "A new tower gets the largest black piece that is left."),
    Rule("black-without-tower", "Black is placed only on a tower that was made in this turn."),
    Rule("piece-gone", "No piece leaves the board."),
    Rule("piece-added", "No coloured piece comes onto the board during the game."),
)
