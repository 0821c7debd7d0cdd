"""The referee's errors, each also the builtin it resembles.

RefereeError
├── EventError (ValueError)            an event that cannot be recorded: unknown kind, missing data
├── FoldError (ValueError)             recorded events that do not make a game
├── ConfigError (ValueError)           a setting that is unknown or has a value it does not take
│   └── ClockError                     a clock that cannot be read or set
├── CorrectionError (ValueError)       a person's correction that cannot be read or makes no position
├── UnreachableError (ConnectionError) the running referee does not answer
├── PlayError (ValueError)             something asked for at the terminal that can't be done
├── PrintError (ValueError)            a sheet that cannot be printed as asked
├── PageError (OSError)                the page cannot be opened: its port is taken, its key can't be kept
├── BrokerError (OSError)              the broker of [mqtt] cannot be used as it is set
├── HallStoreError (OSError)           the hall's database cannot be opened or written
├── TournamentError (ValueError)       a tournament, round or result that cannot be as asked
└── JournalError (OSError)             a journal that cannot be opened, read or written
    ├── JournalMissingError            there is no journal there
    ├── JournalUnreadableError         not a journal, or a damaged one
    ├── JournalNewerError              written by a newer version of the referee
    ├── JournalBusyError               another process has it
    ├── JournalFullError               no room on the disk
    ├── JournalFailedError             the disk could not write or read the journal
    └── JournalReadOnlyError           the file or its folder may not be written
"""

from __future__ import annotations


class RefereeError(Exception):
    """Root of every error of this package."""


class EventError(RefereeError, ValueError):
    """An event that cannot be recorded; the message names the event's kind and what it lacks."""


class FoldError(RefereeError, ValueError):
    """Recorded events that do not make a game; the message names the event's number."""


class ConfigError(RefereeError, ValueError):
    """A setting that is unknown or has a value it does not take; the message names file, line and what is allowed."""


class CorrectionError(RefereeError, ValueError):
    """A person's correction that cannot be read, or makes no position; the message says what was expected."""


class ClockError(ConfigError):
    """A clock that cannot be read or set; the message says what was expected."""


class UnreachableError(RefereeError, ConnectionError):
    """The referee that has the journal does not answer; the message says who that is and what to do."""


class PlayError(RefereeError, ValueError):
    """Something asked for in a game at the terminal that can't be done; the message says what would be possible."""


class PrintError(RefereeError, ValueError):
    """A sheet that cannot be printed as asked, for example markers that need larger paper."""


class PageError(RefereeError, OSError):
    """The page can't be opened; the message says why, and what to give instead."""


class BrokerError(RefereeError, OSError):
    """The broker of [mqtt] can't be used as it is set; the message says what to change."""


class HallStoreError(RefereeError, OSError):
    """The hall's database can't be opened, read or written; the message says which one and what to check."""


class TournamentError(RefereeError, ValueError):
    """A tournament, round or result that can't be as asked; the message says why."""


class JournalError(RefereeError, OSError):
    """A journal that cannot be opened, read or written."""


class JournalMissingError(JournalError):
    """There is no journal at that path."""


class JournalUnreadableError(JournalError):
    """The file is no journal of ours, or it is damaged."""


class JournalNewerError(JournalError):
    """The journal was written by a newer version, which this one could spoil."""


class JournalBusyError(JournalError):
    """Another process writes this journal; the message says which, where and since when."""


class JournalFullError(JournalError):
    """There is no room on the disk for the event."""


class JournalFailedError(JournalError):
    """The disk said that it could not write or read the journal."""


class JournalReadOnlyError(JournalError):
    """The journal or its folder may not be written."""
