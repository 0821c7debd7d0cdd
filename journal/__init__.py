"""The journal: every accepted event, durable before it is shown; the state of a game is a fold over it.

``Journal`` stores events and their evidence in one SQLite file, ``BufferedJournal`` continues in memory while that file
cannot be written, and ``fold`` computes the state. See docs/internals/journal.md.

>>> from datetime import UTC, datetime
>>> from engine.registry import load
>>> from referee.record.events import Event
>>> from referee.record.fold import fold
>>> from journal.journal import Journal
>>> game = load("deblockle")
>>> start = game.rules.new()
>>> after = game.rules.apply(start, game.notation.parse_turn(start, "c1-c2=hoops-a1"))
>>> journal = Journal.in_memory(wall_clock=lambda: datetime(2026, 11, 21, tzinfo=UTC))
>>> journal.append(Event("new game", {"game": "deblockle"}))
1
>>> journal.append(Event("set up", {"state": game.notation.format_state(start)}))
2
>>> journal.append(Event("turn", {"turn": "c1-c2=hoops-a1", "state": game.notation.format_state(after)}))
3
>>> fold(game, journal.events()).states == (after,)
True
>>> journal.close()
"""
