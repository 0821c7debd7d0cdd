from firmware_bridge.protocol.link import HostLink, LinkState
from firmware_bridge.protocol.messages import ButtonReport, FaultReport, LightFrame, Message, SensorReport
from simulator.microcontroller.stepped import SteppedMicrocontroller

MOST_ROUNDS = 1_000_000


class VirtualHost:
    """The host's end of the link to a stepped microcontroller, in virtual time; a lost link is started again."""

    def __init__(self, board: SteppedMicrocontroller, now_s: float = 0.0) -> None:
        self.board = board
        self.link = HostLink()
        self.now_s = now_s
        self.messages: list[Message] = []
        self.transcript: list[tuple[float, str, bytes]] = []
        self.sessions = 0
        self.begin()

    def begin(self) -> None:
        self.sessions += 1
        self.link.begin(self.now_s, 1000 + self.sessions)

    def show(self, *colours: int) -> bytes:
        self.link.send(LightFrame(bytes(colours)))
        return bytes(colours)

    def run(self, seconds: float) -> None:
        """Advance the virtual time."""
        until_s = self.now_s + seconds
        for _ in range(MOST_ROUNDS):
            link_due_s = self.link.next_due_s(self.now_s)
            due_s = min(self.board.next_due_s, until_s if link_due_s is None else link_due_s)
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
            self.messages += self.link.receive(piece, self.now_s)
        data = self.link.outgoing(self.now_s)
        if data:
            self.transcript.append((self.now_s, "went", data))
            self.board.from_host(data, self.now_s)
        if self.link.state is LinkState.LOST:
            self.begin()

    @property
    def is_linked(self) -> bool:
        return self.link.state is LinkState.LINKED

    @property
    def presses(self) -> list[tuple[int, int]]:
        """Buttons and their events (1 pressed, 2 held, 3 released), in order."""
        return [(one.button, one.what) for one in self.messages if isinstance(one, ButtonReport)]

    @property
    def sensors(self) -> SensorReport:
        """The last report of the switches."""
        return [one for one in self.messages if isinstance(one, SensorReport)][-1]

    @property
    def fault_codes(self) -> list[int]:
        return [one.code for one in self.messages if isinstance(one, FaultReport)]

    @property
    def shown(self) -> bytes:
        """The colours of the lights as the host sent them, without dark ones at the end."""
        return self.board.board.shown[-1].colours.rstrip(b"\0")
