"""The catalogue of the game's rules, by id. ``docs/games/blokus-dice.md`` lists the same and a test compares them."""

from __future__ import annotations

from engine.api import Rule
from engine.support.breaches import catalogue

RULES = catalogue(
    Rule("sheet-not-clean", "Everyone starts with an empty sheet."),
    Rule("game-over", "When the game is over, nobody draws any more."),
    Rule("not-in-the-game", "Who is out or has resigned draws nothing more and says nothing more."),
    Rule("roll-first", "A round begins with a roll; nobody draws before it."),
    Rule("not-your-turn", "Players draw in turn, and each on their own sheet."),
    Rule("wiped", "What is drawn stays drawn."),
    Rule("square-taken", "A shape is drawn on empty squares only."),
    Rule("closed-square", "Nothing is drawn on a square that is printed as closed."),
    Rule("colour-not-in-hand", "You draw with the marker that you hold."),
    Rule("not-one-shape", "You draw one shape a turn, and its squares hang together by their sides."),
    Rule("no-such-shape", "You draw only shapes that stand on the sheet."),
    Rule("another-shape", "The squares you fill have the shape you name, turned or flipped as you like."),
    Rule("shape-used", "Each shape is drawn once in a game."),
    Rule("first-in-a-corner", "The first shape of a colour covers a corner square of the sheet."),
    Rule("touches-side", "Shapes of the same colour never touch at a side."),
    Rule("touches-no-corner", "Each further shape of a colour touches one of the same colour at a corner."),
    Rule("no-such-die", "You take a die that lies on the table."),
    Rule("not-in-the-row", "The die you take says from which row your shape comes, unless you cross out a strike."),
    Rule("no-strike-left", "You may cross out only the strikes that the sheet has."),
    Rule("strike-not-needed", "A strike is crossed out for a shape of another row only."),
)
