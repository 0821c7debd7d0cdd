"""The referee's errors, each also the builtin it resembles."""

from common.phrases import SpokenError


class RefereeError(SpokenError):
    """Root of every error of this package."""


class EventError(RefereeError, ValueError):
    """An event that can't be recorded; the message names its kind, and what is missing or wrong."""


class FoldError(RefereeError, ValueError):
    """Recorded events that don't make up a game; the message names the event's number."""


class ConfigError(RefereeError, ValueError):
    """An unknown setting, or an invalid value; the message names file and line, and what is allowed."""


class CorrectionError(RefereeError, ValueError):
    """A correction or another command that can't be read, or that can't be carried out now; the message says why."""


class FieldError(CorrectionError):
    """A command whose ``field`` can't be read; a form shows the message there."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(words)
        self.field = field


class ClockError(ConfigError):
    """A time control or clock that can't be read or set; the message says what was expected."""


class UnreachableError(RefereeError, ConnectionError):
    """The referee that has the journal doesn't answer; the message says which process that is, and what to do."""


class PrintError(RefereeError, ValueError):
    """A sheet that can't be printed as requested, for example because its markers need larger paper."""


class PageError(RefereeError, OSError):
    """The page can't be opened, or one of its files can't be kept; the message says why."""


class DevicesFullError(PageError):
    """All places for paired devices are taken by owners' devices."""


class DevicesBusyError(PageError):
    """Another process is changing the list of paired devices; nothing was changed here."""


class BrokerError(RefereeError, OSError):
    """The broker of [mqtt] can't be used as it is set; the message says what to change."""


class HallStoreError(RefereeError, OSError):
    """The hall's database can't be opened, read or written; the message says which one and what to check."""


class JournalError(RefereeError, OSError):
    """A journal that can't be opened, read or written."""


class JournalMissingError(JournalError):
    """There is no journal at that path."""


class JournalUnreadableError(JournalError):
    """The file isn't a journal, or it is damaged."""


class JournalNewerError(JournalError):
    """The journal was written by a newer version of the referee, and this one could damage it."""


class JournalBusyError(JournalError):
    """Another process has the journal open for writing; the message says which."""


class JournalFullError(JournalError):
    """There is no room on the disk for the event."""


class JournalFailedError(JournalError):
    """The disk failed to read or write the journal."""


class JournalDisplacedError(JournalError):
    """The journal was removed, replaced or overwritten while it was open; the next attempt writes it elsewhere."""


class JournalReadOnlyError(JournalError):
    """The journal or its folder is read-only."""
