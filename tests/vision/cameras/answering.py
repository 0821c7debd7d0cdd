"""A camera in the network that writes every byte itself: a real server on loopback."""

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress

import cv2
import numpy as np


def jpeg(grey: int, size: tuple[int, int] = (64, 48)) -> bytes:
    return cv2.imencode(".jpg", np.full((size[1], size[0], 3), grey, np.uint8))[1].tobytes()


Answer = Callable[[socket.socket, bytes], None]


class AnsweringCamera:
    """A camera that gives each connection an ``answer`` to what it asked."""

    def __init__(self, answer: Answer, context: ssl.SSLContext | None = None) -> None:
        self._answer, self._context = answer, context
        self.asked: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listening.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with suppress(OSError):
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
            with connection:
                asked = b""
                while b"\r\n\r\n" not in asked:
                    if not (more := connection.recv(4096)):
                        return
                    asked += more
                self.asked.append(asked)
                self._answer(connection, asked)
