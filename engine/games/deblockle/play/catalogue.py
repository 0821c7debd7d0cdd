"""The catalogue of Deblockle's rules, by id. ``docs/games/deblockle.md`` lists the same and a test compares them."""

from __future__ import annotations

from engine.api import Rule
from engine.support.breaches import catalogue

RULES = catalogue(
    Rule("too-many-blocks", "A player starts with the agreed number of blocks, four at most."),
    Rule("too-few-blocks", "A player starts with the agreed number of blocks, one at least."),
    Rule("start-square", "Each block starts on one of its owner's starting squares."),
    Rule("start-on-star", "No block starts on a star square."),
    Rule("game-over", "When the game is over, no more turns are played."),
    Rule("not-your-turn", "Players take turns: wait until it is your turn."),
    Rule("no-turn-left", "A player who can't move is Deblockle'd, and waits until there is a way out again."),
    Rule("moved-opponent-block", "Move only your own blocks."),
    Rule("two-blocks-moved", "One turn moves one block."),
    Rule("no-roll", "A turn begins with a roll over an edge, so another symbol comes up."),
    Rule("rolled-diagonally", "A block rolls straight over an edge, never over a corner."),
    Rule("rolled-too-far", "A block rolls just one square."),
    Rule("roll-blocked", "A block rolls onto an open square of the board."),
    Rule("rolled-onto-star", "No block rolls onto a star square, unless it comes star up onto its goal."),
    Rule("wrong-goal", "A block leaves the board on the star across the board, not on its own."),
    Rule("not-removed", "A block that reaches its goal with the star up leaves the board."),
    Rule("star-rolled-up", "The star may be rolled up nowhere but on the goal."),
    Rule("symbol-not-possible", "After a roll a block shows the symbol that was on its side."),
    Rule("hop-missing", "After the roll the same block must hop as its symbol says."),
    Rule("no-hop-possible", "A roll after which the block can't hop is not allowed."),
    Rule("stop-must-not-hop", "With stop up the turn is over: the block stays where it rolled."),
    Rule("cross-one-orthogonal", "With the cross up the block hops one square straight: sideways, forwards or back."),
    Rule("x-one-diagonal", "With the x up the block hops one square diagonally."),
    Rule("slider-to-the-end", "With the slider up the block slides straight on until a block or the edge stops it."),
    Rule("hoops-three-steps", "With the hoops up the block takes exactly three straight steps over open squares."),
    Rule("landed-on-star", "No turn ends on a star square."),
    Rule("landed-on-block", "No block lands on another block."),
    Rule("side-by-side", "No turn may end with your block right beside your opponent's."),
    Rule("slider-stopped-by-opponent", "A slide may be stopped by the edge or your own block, not by your opponent's."),
    Rule("turned-while-hopping", "A hop or a slide never turns a block."),
    Rule("block-turned-in-place", "A block keeps its sides where they are until it rolls."),
    Rule("top-changed-in-place", "A block shows another symbol only after it has rolled."),
    Rule("block-added", "No block comes onto the board during the game."),
    Rule("block-removed-without-goal", "A block leaves the board only when it rolls star up onto its goal."),
    Rule("colour-changed", "A block stays its owner's colour."),
    Rule("repetition-claim", "From the third time a position comes up, the player to move may claim a draw if agreed."),
)
