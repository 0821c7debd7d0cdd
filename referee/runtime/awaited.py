"""A live camera that is waited for together with commands, so that nobody's command waits for a frame."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from referee.commands.queue import CommandQueue
from referee.session.loop import FrameSource
from vision.frame import Frame


class AwaitedCamera:
    """Reads a camera in a thread of its own; whoever reads it carries out what is submitted meanwhile.

    A frame is read only when it is asked for, so the camera gives the same ones as without this. ``serve`` carries
    out what waits in ``commands``, in the thread of whoever reads; ``waiting`` calls what it is given, which is where
    a person may stop the program.
    """

    def __init__(
        self,
        camera: FrameSource,
        commands: CommandQueue,
        serve: Callable[[], object],
        waiting: Callable[[Callable[[], None]], object],
    ) -> None:
        self._camera = camera
        self._commands = commands
        self._serve = serve
        self._waiting = waiting
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="frames")

    def read(self, timeout_s: float) -> Frame:
        """Read as the camera does."""
        frame = self._threads.submit(self._camera.read, timeout_s)
        frame.add_done_callback(self._wake)
        while not frame.done():
            self._waiting(self._commands.wait)
            self._serve()
        return frame.result()

    def close(self) -> None:
        """Read no more. A read that is under way ends with the camera, which is to be closed after this."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wake(self, frame: Future[Frame]) -> None:
        del frame
        self._commands.wake()
