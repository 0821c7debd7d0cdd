"""What the rules of several games have in common, to inherit from."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic

from engine.api import Player, StateT, TurnT


class OneAtATime(Generic[StateT, TurnT]):
    """The rules of a game in which only ``state.to_move`` plays, and perft counts the legal turns."""

    @abstractmethod
    def legal_turns(self, state: StateT) -> Sequence[TurnT]:
        """List every complete turn that is certain or not known yet, in a fixed order, none twice."""

    def perft_turns(self, state: StateT) -> Sequence[TurnT]:
        """List the legal turns."""
        return self.legal_turns(state)

    def players_to_move(self, state: StateT) -> tuple[Player, ...]:
        """Name the one who may play now, nobody when the game is over."""
        return () if state.to_move is None else (state.to_move,)
