from firmware_bridge.protocol.link import HostLink, News, Pressed, SerialLine
from firmware_bridge.protocol.messages import BoardState, Welcome
from simulator.microcontroller.stepped import SteppedMicrocontroller

MOST_ROUNDS = 1_000_000


class VirtualHost:
    """The host's end of the link to a stepped microcontroller, in virtual time."""

    def __init__(self, board: SteppedMicrocontroller, now_s: float = 0.0) -> None:
        self.board = board
        self.link = HostLink()
        self.now_s = now_s
        self.news: list[News] = []
        self.transcript: list[tuple[float, str, bytes]] = []
        self.link.open(SerialLine())

    def show(self, *colours: int) -> bytes:
        self.link.show(bytes(colours))
        return bytes(colours)

    def run(self, seconds: float) -> None:
        """Advance the virtual time."""
        until_s = self.now_s + seconds
        for _ in range(MOST_ROUNDS):
            due_s = min(self.board.next_due_s, self.link.next_due_s(self.now_s))
            if due_s > until_s:
                break
            self.now_s = max(self.now_s, due_s)
            self.turn()
            if self.now_s >= until_s:
                break
        else:
            raise AssertionError(f"no progress at {self.now_s} s")
        self.now_s = until_s
        self.turn()

    def turn(self) -> None:
        self.board.advance(self.now_s)
        for piece in self.board.take_to_host(self.now_s):
            self.transcript.append((self.now_s, "came", piece))
            self.news += self.link.receive(piece, self.now_s)
        data = self.link.outgoing(self.now_s)
        if data:
            self.transcript.append((self.now_s, "went", data))
            self.board.from_host(data, self.now_s)

    @property
    def is_linked(self) -> bool:
        return self.link.welcome is not None and self.now_s < self.link.heard_s + 2.0

    @property
    def presses(self) -> list[int]:
        """The buttons pressed, in order."""
        return [one.button for one in self.news if isinstance(one, Pressed)]

    @property
    def states(self) -> list[BoardState]:
        return [one for one in self.news if isinstance(one, BoardState)]

    @property
    def welcomes(self) -> list[Welcome]:
        return [one for one in self.news if isinstance(one, Welcome)]

    @property
    def shown(self) -> bytes:
        """The colours of the lights as the host sent them, without dark ones at the end."""
        return self.board.board.shown[-1].colours.rstrip(b"\0")
