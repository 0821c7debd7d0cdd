"""How the game at the table stands: what is believed, what its table shows, and what was said and still waits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Generic

from common.phrases import Phrase
from engine.api import Game, StateT, TurnT
from engine.values import OptionValue, Place
from hardware.lights.signals import Signal
from referee.commands.entries import start_states
from referee.commands.values import Announced
from referee.judge.belief import Belief, override_belief
from referee.judge.explorer import JudgeContext
from referee.session import feed
from referee.session.announcer import Announcer
from referee.session.log import GameLog
from referee.session.ports import ServiceSettings
from referee.session.turn_ends import TurnOnTable
from referee.session.view import TableView


class Standing(Generic[StateT, TurnT]):
    """One game after another, as it stands; judging changes it, and so does carrying out commands.

    ``publish`` and ``say`` are as for Service. Without a camera, pieces that nobody set up stand at the start.
    """

    def __init__(
        self,
        game: Game[StateT, TurnT],
        log: GameLog[StateT, TurnT],
        settings: ServiceSettings,
        publish: feed.Subscriber,
        say: Callable[[str], None],
        *,
        has_camera: bool,
    ) -> None:
        self.game = game
        self.settings = settings
        self.has_camera = has_camera
        self.context: JudgeContext[StateT, TurnT] = JudgeContext(game, settings.judge)
        self.log = log
        self.options: Mapping[str, OptionValue] = settings.options
        """The options of the game."""
        self.belief: Belief[StateT, TurnT] = Belief()
        self.view = TableView(self.context, settings)
        self.waiting_words: dict[Announced, str] = {}
        """What was announced before the table was at rest, with the request's id."""
        self.announcer = Announcer(game, log, publish, say, lambda: self.belief.states, lambda: self.view)

    def begin(self, options: Mapping[str, OptionValue], belief: Belief[StateT, TurnT] | None = None) -> None:
        """Begin a game with these options, or go on with one of which this is believed."""
        self.options = dict(options)
        self.belief = belief or Belief()
        self.view = TableView(self.context, self.settings, self.options)
        self.waiting_words = {}

    @property
    def states(self) -> tuple[StateT, ...]:
        """The states that an entry goes on from: without a camera, nobody need say that the pieces were set up."""
        return self.belief.states or (() if self.has_camera else start_states(self.game, self.options))

    @property
    def is_finished(self) -> bool:
        """Whether the game has ended by the rules."""
        return bool(self.belief.states) and self.game.rules.outcome(self.belief.states[0]) is not None

    @property
    def is_asking(self) -> bool:
        """Whether a question to the players is open."""
        return self.view.question.is_open(self.view.stable)

    @property
    def turn_on_table(self) -> TurnOnTable[StateT, TurnT]:
        """The turn on the table as it is now."""
        return TurnOnTable(self.context, self.belief, self.view.stable, self.settings, self.options)

    def override(
        self,
        states: Sequence[StateT],
        signal: Signal,
        places: Sequence[Place] = (),
        *,
        unchanged: Sequence[Place] = (),
        undone: Sequence[StateT] = (),
    ) -> None:
        """Believe a person rather than the camera, and show that.

        A press or announcement that waits was about what was believed before, so it is dropped.
        """
        self.belief = override_belief(self.context, self.belief, states, places, unchanged=unchanged, undone=undone)
        self.drop_press()
        if self.waiting_words:
            self.announcer.say(Phrase("What was announced before no longer counts, since the game went on meanwhile."))
        self.waiting_words = {}
        self.show_override(signal)

    def show_override(self, signal: Signal) -> None:
        """Show the result of a person's entry, and have the table judged again."""
        self.view.judge_again()
        self.view.question.close()
        self.announcer.note_overruled(self.belief.overruled(self.context))
        self.announcer.show(signal)

    def override_states(self, states: Sequence[StateT], signal: Signal) -> None:
        """Show what a person said that leaves all on the table as it was: dice and a waiting press still count."""
        self.belief = replace(self.belief, states=tuple(states), states_ignoring_sides=tuple(states))
        self.show_override(signal)

    def drop_press(self) -> None:
        """Forget a press that waits, and say so to those who were told that it is noted."""
        if self.view.press_is_noted:
            self.announcer.say(Phrase("The end of the turn that was noted no longer counts. Please press again."))
        self.view.forget_press()
