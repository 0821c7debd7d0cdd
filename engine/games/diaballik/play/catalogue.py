"""The catalogue of Diaballik's rules, by id. ``docs/games/diaballik.md`` lists the same and a test compares them."""

from __future__ import annotations

from engine.api import Rule
from engine.support.breaches import catalogue

RULES = catalogue(
    Rule("too-many-pieces", "A player has seven pieces, no more."),
    Rule("too-few-pieces", "A player has seven pieces, no fewer."),
    Rule("start-square", "The pieces start on the squares of the agreed start."),
    Rule("start-ball", "One piece a side starts with the ball: the one in the middle of the home row."),
    Rule("start-at-goal", "No ball starts on the row where it wins."),
    Rule("game-over", "When the game is over, no more turns are played."),
    Rule("not-your-turn", "Players take turns: wait until it is your turn."),
    Rule("no-action-left", "A player who can neither move nor pass is skipped."),
    Rule("moved-opponent-piece", "Move only your own pieces."),
    Rule("passed-opponent-ball", "Pass only your own ball."),
    Rule("carrier-moved", "The piece with the ball stays where it is until it has passed the ball."),
    Rule("moved-diagonally", "A piece moves straight: sideways, forwards or back."),
    Rule("square-taken", "A piece moves only onto an empty square, over nobody."),
    Rule("too-many-moves", "A turn has two moves of one square at most."),
    Rule("second-pass", "A turn has one pass at most."),
    Rule("pass-not-straight", "A pass goes straight along a row, a column or a diagonal."),
    Rule("pass-blocked", "No pass goes over a piece of the opponent."),
    Rule("pass-over-own", "Where it was agreed so, no pass goes over a piece of your own."),
    Rule("pass-to-nobody", "A pass goes to another piece of your own."),
    Rule("pass-without-ball", "Only the piece with the ball passes it."),
    Rule("goal-ends-turn", "With the ball on the far row the game is won and nothing more is done."),
    Rule("null-turn", "Where it was agreed so, a turn has to change something."),
    Rule("ball-missing", "Each player's ball lies on one of their own pieces."),
    Rule("ball-added", "Each player has one ball."),
    Rule("piece-added", "No piece comes onto the board during the game."),
    Rule("piece-removed", "No piece leaves the board."),
    Rule("colour-changed", "A piece stays its owner's colour."),
    Rule("anti-play-turn", "Anti-play is announced on your own turn."),
    Rule("anti-play-wall", "Anti-play is announced against a wall: a piece in every column, each linked to the next."),
    Rule("anti-play-contacts", "Anti-play is announced when three of your pieces touch the wall face to face."),
    Rule("repetition-too-soon", "A draw by repetition is claimed from the third time of a position on, where agreed."),
)
