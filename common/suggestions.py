"""What somebody may have meant who wrote a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(got: str, known: Iterable[str]) -> str | None:
    """Give the known name that is spelled most like ``got``, ``None`` if none is like it.

    >>> nearest("gipo", ["terminal", "gpio"])
    'gpio'
    """
    return next(iter(difflib.get_close_matches(got, [str(name) for name in known], n=1)), None)


def did_you_mean(got: str, known: Iterable[str], *, quoted: bool = False) -> str:
    """Give what to append to a message: ``" (did you mean gpio?)"``, or nothing where no name is like ``got``.

    >>> did_you_mean("gipo", ["terminal", "gpio"], quoted=True)
    " (did you mean 'gpio'?)"
    """
    near = nearest(got, known)
    if near is None:
        return ""
    return f" (did you mean {near!r}?)" if quoted else f" (did you mean {near}?)"
