"""How flat discs are handled: put down from a stock, moved, turned over, taken off, and put back."""

from collections.abc import Mapping
from itertools import count
from typing import ClassVar

from engine.registry import load
from simulator.play.actions import Arrangement, Carries, Carry, Handler
from simulator.scene.pieces import DiscPose, PiecePose, changed
from vision.layout.pieces import DiscPieces


def as_disc(piece: PiecePose) -> DiscPose:
    """Return the piece as a disc; raises ValueError for one of another kind."""
    if not isinstance(piece, DiscPose):
        raise ValueError(f"a {piece.look} is not a disc")
    return piece


class PlainDiscHandler(Handler):
    """Makes carries of discs; the colour that is up names the owner."""

    stock: ClassVar[int] = 0
    """How many discs lie beside the board for each player at the start."""
    turns_over: ClassVar[bool] = False
    """Whether each disc has both players' colours, one on each side."""

    def set_up(self, looks: Mapping[str, str], text: str = "") -> Arrangement:  # noqa: ARG002 - all of it shows
        """Put the disc of each square there, and the stock beside the board."""
        standing = Arrangement({place: self._put_down(place, self._piece(look)) for place, look in looks.items()})
        for owner in load(self.layout.game).players * self.stock:
            x, y, place = self._beside(standing, owner)
            standing = Arrangement({**standing, place: DiscPose(x, y, owner, base_mm=0.0)})
        return standing

    def _piece(self, look: str) -> DiscPose:
        """Return the disc of a look, somewhere."""
        return DiscPose(0.0, 0.0, look.split(" ", 1)[0])

    def _put_down(self, place: str, piece: DiscPose) -> DiscPose:
        x, y = self.layout.centre_mm(place)
        right, away = self._offset_mm(self._slack.most_mm)
        return changed(piece, x_mm=x + right, y_mm=y + away, turned_deg=self._turned_deg(), base_mm=None)

    def lift(self, standing: Arrangement, start: str, end: str) -> Carry:
        """Move a disc, with what lies on it, to an empty square."""
        return Carry(start, end, self._put_down(end, as_disc(standing[start])))

    def place(self, standing: Arrangement, end: str, colour: str) -> Carry:
        """Put a disc of the player's stock, or else of another's, on a square with this colour up."""
        stock = [place for place in standing if place not in self.layout.places]
        start = next((place for place in reversed(stock) if place.startswith(colour)), stock[-1])
        return Carry(start, end, self._put_down(end, changed(as_disc(standing[start]), colour=colour)))

    def turn_over(self, standing: Arrangement, place: str) -> Carry:
        """Turn a disc over on its square."""
        piece = as_disc(standing[place])
        colour = next(player for player in load(self.layout.game).players if player != piece.colour)
        return Carry(place, place, self._put_down(place, changed(piece, colour=colour)))

    def take_off(self, standing: Arrangement, start: str) -> Carry:
        """Take a disc, with what lies on it, to its owner's side beside the board."""
        piece = as_disc(standing[start])
        x, y, end = self._beside(standing, piece.colour)
        return Carry(start, end, changed(piece, x_mm=x, y_mm=y, base_mm=0.0))

    def _beside(self, standing: Arrangement, owner: str) -> tuple[float, float, str]:
        """Return position and name of the next place beside the board: on the right, seen from its owner's side."""
        number = next(number for number in count(1) if f"{owner} tray {number}" not in standing)
        board = self.layout.board
        half, step = board.bounds_mm.right_mm, DiscPieces.on(board).diameter_mm + 6.0
        # a column ends before the markers at the board's corners
        column, row = divmod(number - 1, int((2 * half - 60.0) / step))
        side = 1 if owner == load(self.layout.game).players[0] else -1
        return (side * (half + 26.0 + column * step), side * (60.0 - half + (row + 1) * step), f"{owner} tray {number}")

    def owner(self, piece: PiecePose) -> str:
        """Return the owner of a disc; its colour is the player's name."""
        return as_disc(piece).colour

    def put_back(self, before: Arrangement, now: Arrangement) -> Carries:
        """Return the carries that put every disc back, with its colour up; those in the way move aside first."""
        carries: list[Carry] = []

        def do(carry: Carry) -> None:
            nonlocal now
            carries.append(carry)
            now = now.after(carry)

        def differ() -> list[str]:
            both = [place for place in self.layout.places if place in before and place in now]
            return [place for place in both if _colour(now, place) != _colour(before, place)]

        free = [place for place in self.layout.places if place not in before and place not in now]
        for place in [] if self.turns_over else differ():
            do(self.lift(now, place, free.pop()))
        for target, piece in before.items():
            if target not in now:
                wanted = as_disc(piece).colour
                astray = [place for place, one in now.items() if place not in before and isinstance(one, DiscPose)]
                alike = [place for place in astray if _colour(now, place) == wanted]
                start = (alike or astray)[0]
                beside = target not in self.layout.places
                do(Carry(start, target, piece) if beside else self.lift(now, start, target))
        for place in differ() if self.turns_over else []:
            do(self.turn_over(now, place))
        return tuple(carries)


def _colour(standing: Arrangement, place: str) -> str:
    return as_disc(standing[place]).colour
