"""Begins another game, of the same kind or of another one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Generic

from common.phrases import Phrase
from engine import registry
from engine.api import StateT, TurnT
from engine.values import Player
from referee.commands import entries
from referee.commands.values import NewGame, SameAgain
from referee.errors import CorrectionError
from referee.session import recording
from referee.session.ports import SettingsForGame
from referee.session.standing import Standing


class NewGames(Generic[StateT, TurnT]):
    """Records how a game begins. ``programs`` names the program's side; ``settings_for`` is as for Service."""

    def __init__(
        self,
        standing: Standing[StateT, TurnT],
        programs: Mapping[Player, str],
        settings_for: SettingsForGame | None,
    ) -> None:
        self._standing = standing
        self._programs = programs
        self._settings_for = settings_for
        self._is_other_begun = False

    @property
    def is_other_begun(self) -> bool:
        """Whether a game of another kind was begun."""
        return self._is_other_begun

    def begin(self, command: NewGame, *, seed: int | None = None) -> str:
        """Begin a game; see ``Service.begin``."""
        standing = self._standing
        game, settings = standing.game, standing.settings
        if command.game != game.name:
            return self._begin_other(command)
        complete, clock = settings.complete(game, command)
        if standing.has_camera:
            settings.check_new_game(game, complete)
        complete = replace(complete, players={**complete.players, **self._programs})
        standing.log.append(recording.new_game_event(complete, clock, seed))
        standing.begin(complete.options)
        standing.announcer.begin()
        return Phrase(
            "Game {number} of {title} begins. {set_up_request}",
            standing.log.number,
            game.title,
            recording.set_up_request(game),
        )

    def _begin_other(self, command: NewGame) -> str:
        standing = self._standing
        if self._settings_for is None:
            raise CorrectionError(
                "this referee referees {title}; stop it to play {game}", standing.game.title, command.game
            )
        game = registry.load(command.game)
        complete, clock = self._settings_for(game, {}).complete(game, command)
        self._settings_for(game, complete.options)
        number = standing.log.append_to_another(recording.new_game_event(complete, clock))
        self._is_other_begun = True
        standing.announcer.say(Phrase("The table changes to {title}.", game.title))
        return Phrase(
            "Game {number} of {title} begins. {set_up_request}", number, game.title, recording.set_up_request(game)
        )

    def same_again(self, command: SameAgain) -> str:
        """Begin another game like the last one, with the sides changed; raises CorrectionError before its end."""
        log = self._standing.log
        if log.folded.turns and log.folded.outcome is None:
            raise CorrectionError("the game is not over; end it first")
        return self.begin(entries.same_again(self._standing.game, log.last_begun(), command.by))
