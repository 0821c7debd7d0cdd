"""Carries out what people say against the record: take-backs, corrections, and that the camera errs."""

from dataclasses import replace
from typing import Generic

from common.phrases import Phrase
from engine.api import StateT, TurnT
from referee.commands import entries
from referee.commands.values import Correct, Overrule, TakeBack
from referee.errors import CorrectionError
from referee.session import feed, recording
from referee.session.entering import Entering
from referee.session.standing import Standing


class Corrections(Generic[StateT, TurnT]):
    """Believes people rather than the record or the camera, and records that."""

    def __init__(self, standing: Standing[StateT, TurnT], entering: Entering[StateT, TurnT]) -> None:
        self._standing = standing
        self._game = standing.game
        self._log = standing.log
        self._announcer = standing.announcer
        self._entering = entering

    def take_back(self, command: TakeBack) -> str:
        """Undo the last turn, roll, announcement or draw offer at a person's request; raises CorrectionError."""
        if withdrawn := entries.withdrawal(self._log.folded.offer, command.by, self._announcer.time_s):
            return self._announcer.record_offer(withdrawn)
        folded = self._log.folded
        if folded.last_played is None:
            self._announcer.say(Phrase("There is no turn to take back."))
            raise CorrectionError("there is no turn to take back")
        self._log.append(recording.take_back_event(command.by, self._announcer.time_s))
        states = self._log.folded.states
        sentence = self._announcer.say_entry(recording.take_back_sentence(self._game, folded))
        signal = feed.waiting_signal(self._game, states[0])
        self._standing.override(states, signal, undone=recording.undone_states(folded))
        return sentence

    def correct(self, command: Correct) -> str:
        """Apply a person's correction, which outranks the camera; raises CorrectionError if it is impossible.

        To say that the other player is to move ends the turn on the table.
        """
        standing = self._standing
        self._entering.end_turn_before(command)
        done = entries.apply_correction(self._game, standing.belief.states, command, standing.options)
        if not standing.belief.states:
            # Whoever says that the table is set up overrules what looks otherwise.
            places = standing.belief.contradicting(standing.context, done.states[0])
            done = replace(done, places=places, unchanged=())
        event = recording.corrected_event(self._game, done, command, self._announcer.time_s)
        self._log.record_entry(event, done.states, self._game.rules.outcome(done.states[0]), self._announcer.time_s)
        sentence = self._announcer.say_entry(done.sentence)
        signal = feed.corrected_signal(self._game, done.states[0], done.places, sentence)
        standing.override(done.states, signal, done.places, unchanged=done.unchanged)
        return sentence

    def overrule(self, command: Overrule) -> str:
        """Accept a person's word that places are as believed, and ignore them until they look that way again.

        Places that show another look are judged with it, as the table was judged before.
        """
        standing = self._standing
        if not standing.belief.states:
            raise CorrectionError("the board is not set up yet; say what stands where instead")
        state, places = standing.belief.states[0], tuple(dict.fromkeys(command.places))
        entries.check_places(self._game, state, places)
        looks = entries.looks_told(self._game, state, command)
        standing.belief = standing.belief.with_places_confirmed(places, looks)
        event = recording.overrule_event(places, looks, command.by, self._announcer.time_s)
        self._log.append(event)
        if looks and standing.view.was_declared:
            standing.view.press()
        standing.show_override(self._announcer.waiting(standing.belief.states[0]))
        return str(event.data["sentence"])
