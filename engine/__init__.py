"""The rules of each game, pure: no clock, no files, no camera, no pins.

``engine.api`` defines what a game is made of. Only ``engine.registry`` names concrete games, and no game in
``engine.games`` imports another.

Play a turn, then explain a change that is not a legal turn:

>>> from engine.registry import load
>>> game = load("deblockle")
>>> state = game.rules.new({"blocks_gold": 1, "blocks_teal": 1})
>>> [game.notation.format_turn(turn) for turn in game.rules.legal_turns(state)]
['d1-e1=cross-d1', 'd1-e1=cross-f1', 'd1-e1=cross-e2', 'd1-c1=x-b2']
>>> turn = game.notation.parse_turn(state, "d1 b2")
>>> game.notation.describe(turn)
'Gold rolls d1 to c1, x up, and hops to b2.'
>>> game.rules.apply(state, turn).to_move
'teal'
>>> seen = {**game.table.appearance(state), "d1": "empty", "d3": "gold block, star up"}
>>> game.table.explain(state, seen)[0].sentence
'The gold block went from d1 to d3 without a roll: star is still up.'
"""
