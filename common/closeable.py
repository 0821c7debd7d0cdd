"""The base of objects that hold something until they are closed."""

from abc import ABC, abstractmethod
from typing import Self


class Closeable(ABC):
    """An object that the end of a ``with`` block closes."""

    @abstractmethod
    def close(self) -> None:
        """Release what the object holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
