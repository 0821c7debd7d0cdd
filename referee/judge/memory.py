"""What the judge remembers: the belief, a fault that stands, squares set aside, and a person's word."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Generic

from engine.api import EMPTY, Appearance, Game, Place, StateT, TurnT
from referee.judge import faults
from referee.judge.belief import Explorer, changes_between
from referee.judge.deliberating import Deliberation
from referee.judge.hypotheses import Changes
from referee.judge.pooling import PooledPlace
from referee.judge.settings import JudgeSettings
from referee.judge.trusting import Word
from referee.judge.waiting import Waiting
from referee.verdict import Verdict


class Memory(Generic[StateT, TurnT]):
    """What is believed and what was said, between looks at the table.

    ``belief`` holds every state that may be the case: none before the set-up, normally one, several while it is
    open who starts. ``fault`` is one that was named before a restart and not put right.
    """

    def __init__(
        self,
        game: Game[StateT, TurnT],
        settings: JudgeSettings | None = None,
        belief: Sequence[StateT] = (),
        fault: Verdict | None = None,
    ) -> None:
        self._game = game
        self._settings = settings or JudgeSettings()
        self._think: Deliberation[StateT, TurnT] = Deliberation(game, Explorer(game), self._settings)
        self._belief: tuple[StateT, ...] = tuple(belief)
        # The same without what only side faces told, for when a side face was misread.
        self._by_tops: tuple[StateT, ...] = tuple(belief)
        self._asked_about: Changes | None = None
        self._asked_disputes: frozenset[Place] = frozenset()
        self._refused: frozenset[Changes] = frozenset()
        self._waiting: Waiting[TurnT] = Waiting()
        self._fault = faults.standing(fault)
        self._set_aside: frozenset[Place] = frozenset()
        self._word = Word()
        # What each place that could be seen showed at the latest look.
        self._looked: Mapping[Place, PooledPlace] = {}
        # What sensors said at the latest look, and what some of them say that is known to be wrong.
        self._felt: Mapping[Place, bool] = {}
        self._doubted: Mapping[Place, bool] = {}
        # What sensors noticed until then belongs to what was accepted.
        self._since_s = -math.inf
        self._looked_s = -math.inf

    @property
    def belief(self) -> tuple[StateT, ...]:
        """Every state that may be the case; empty before the set-up."""
        return self._belief

    @property
    def fault(self) -> Verdict | None:
        """The fault that was named and not yet put right."""
        return None if self._fault is None else self._fault.verdict

    @property
    def against_camera(self) -> tuple[Place, ...]:
        """Places where a person's word holds although the camera sees something else."""
        return tuple(place for place in self._game.places if place in self._word.left_out)

    @property
    def set_aside(self) -> tuple[Place, ...]:
        """Places that a person should look at while the game goes on."""
        return tuple(place for place in self._game.places if place in self._set_aside)

    def correct(
        self,
        states: Sequence[StateT],
        places: Sequence[Place] = (),
        *,
        undone: Sequence[StateT] = (),
        fault: Verdict | None = None,
    ) -> None:
        """Believe a person: ``states`` hold from here, whatever the camera says.

        What was believed until now, and the states ``undone``, are not accepted again as a turn until the table has
        shown something else, or a player declares it. Where one of ``places`` looks otherwise at the next look, the
        camera counts for nothing there until it shows a third thing or is played on. ``fault`` is one named since.
        Raises ValueError for no states.
        """
        if not states:
            raise ValueError("a correction needs at least one state")
        looks = self._game.appearance(states[0])
        refused = {changes_between(looks, self._game.appearance(state)) for state in (*self._belief[:1], *undone)}
        before = self._game.appearance(self._belief[0]) if self._belief else looks
        self._believe(tuple(states))
        self._refused = frozenset(refused - {frozenset()})
        # Where the camera saw the same, a word settles nothing between them.
        seen = {place for place in places if place in self._looked and self._looked[place].agrees(looks[place])}
        unseen = {place for place in places if self._looked and place not in self._looked}
        self._word = Word(frozenset(places) - seen, unseen=frozenset(unseen))
        # What sensors said against what was believed and what holds now is no news of what comes next.
        said = {place: says for place, says in self._felt.items() if says != (before[place] != EMPTY)}
        self._doubt(said, looks)
        self._fault = faults.standing(fault)

    def overrule(self, places: Sequence[Place]) -> None:
        """Believe a person that these places are as believed: they are left out until they look so again."""
        self._set_aside |= frozenset(places)
        self._fault = None

    def _doubt(self, felt: Mapping[Place, bool], believed: Appearance) -> None:
        """Go by none of the sensors that contradict a table as believed, until they say something else."""
        wrong = {place: says for place, says in felt.items() if says != (believed[place] != EMPTY)}
        self._doubted = {**self._doubted, **wrong}

    def _believe(self, states: tuple[StateT, ...], by_tops: tuple[StateT, ...] | None = None) -> None:
        self._belief = states
        self._by_tops = by_tops or states
        self._asked_about = None
        self._asked_disputes = frozenset()
        self._refused = frozenset()
        self._waiting = Waiting()
        self._fault = None
        self._set_aside = frozenset()
        self._word = Word()
        self._since_s = self._looked_s
