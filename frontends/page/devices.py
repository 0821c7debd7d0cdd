"""The devices paired with a page, kept in a file beside the journal. Terminal commands may change the file too."""

import fcntl
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from common.durable import open_private, write_durably
from common.json_files import parse_json
from common.whole_files import read_text
from engine.values import Player
from referee.commands.values import Role
from referee.errors import DevicesBusyError, DevicesFullError, PageError

MOST_DEVICES = 256
"""More than a household has. Beyond this, the device not seen for the longest time is unpaired; never an owner's."""
PAIRED_S = 180 * 24 * 3600.0
"""How long a device stays paired."""
_CLOCK_SET_S = 1_735_689_600.0
"""2025 begins, in seconds since 1970. An earlier time is that of a machine whose clock is not set yet."""
_SEEN_EVERY_S = 600.0
"""The shortest time between two writes that only update when devices were seen; it spares memory cards."""
_LOCK_TRIES = 100
_LOCK_EVERY_S = 0.02
"""Tries to lock the list, and the time between two. Together 2 s: slow cards sync a small file within one."""


@dataclass(frozen=True)
class Claim:
    """Whose device one is: the player of a ``side``, and the player's ``name``, empty without one."""

    side: Player
    name: str = ""

    def player_in(self, names: Mapping[Player, str], playing: Collection[Player]) -> Player | None:
        """Return the player of a game: whoever has the name now, or the side while it has no name; ``None`` for nobody.

        >>> Claim("p1", "Anna").player_in({"p1": "Ben", "p2": "Anna"}, ("p1", "p2"))
        'p2'
        """
        if not self.name:
            return self.side if self.side in playing and not names.get(self.side) else None
        found = (side for side, name in names.items() if name.casefold() == self.name.casefold())
        return next((side for side in found if side in playing), None)


@dataclass(frozen=True)
class Device:
    """A paired device; ``paired_s`` and ``seen_s`` are seconds since 1970. Without a ``claim`` it is everybody's.

    One that ``films`` may be the camera, whatever else its role allows.
    """

    id: str
    name: str
    role: Role
    paired_s: float
    seen_s: float
    claim: Claim | None = None
    films: bool = False


_DEVICES = TypeAdapter(list[Device])
_Stamp = tuple[int, int, int]


class PairedDevices:
    """The list of devices. It is thread-safe, and several processes may share the file.

    Without a ``path``, the list is kept in memory. ``now_s`` returns seconds since 1970. The methods raise PageError
    if the file can't be read or written, and those that change it DevicesBusyError while another process does, after
    calling ``wait`` between their tries. Nobody who only looks for a device waits for that.
    """

    def __init__(
        self, path: Path | None, now_s: Callable[[], float], wait: Callable[[float], object] = time.sleep
    ) -> None:
        self._path = path
        self._now_s = now_s
        self._wait = wait
        self._changes = threading.Lock()
        self._lock = threading.Lock()
        self._stamp: _Stamp | None = None
        self._known: dict[str, Device] = {}
        self._seen: dict[str, float] = {}
        self._kept_s = now_s()
        self._refresh()

    def all(self) -> tuple[Device, ...]:
        """List the devices, oldest pairing first."""
        with self._lock:
            self._refresh()
            return tuple(sorted(map(self._with_seen_time, self._known.values()), key=lambda device: device.paired_s))

    def find(self, identity: str) -> Device | None:
        """Return a device, ``None`` if it isn't paired, has been unpaired, or was paired too long ago."""
        with self._lock:
            self._refresh()
            device = self._known.get(identity)
            if device is not None and _CLOCK_SET_S <= device.paired_s < self._now_s() - PAIRED_S:
                return None
            return device

    def add(self, name: str, role: Role, *, films: bool = False) -> Device:
        """Pair a device; raises DevicesFullError if there are too many and all of them are the owner's."""
        now_s = self._now_s()
        device = Device(secrets.token_urlsafe(12), name, role, now_s, now_s, films=films)
        with self._changing() as devices:
            if len(devices) >= MOST_DEVICES:
                lesser = [each for each in devices.values() if each.role < Role.OWN]
                if not lesser:
                    raise DevicesFullError(
                        "{devices} devices own this table already, so no other can be paired; unpair one of them",
                        len(devices),
                    )
                del devices[min(lesser, key=lambda each: each.seen_s).id]
            devices[device.id] = device
        return device

    def change(self, identity: str, role: Role) -> Device | None:
        """Change a device's role; ``NOBODY`` unpairs it. Returns the previous device, ``None`` if there is none."""
        with self._changing() as devices:
            before = devices.get(identity)
            if before is not None and role is Role.NOBODY:
                del devices[identity]
            elif before is not None:
                devices[identity] = replace(before, role=role)
        return before

    def claim(self, identity: str, claim: Claim | None) -> Device | None:
        """Give a device to a player, or to everybody. Returns the previous device, ``None`` if there is none."""
        return self._replace(identity, claim=claim)

    def let_film(self, identity: str) -> Device | None:
        """Let a device be the camera, too. Returns the previous device, ``None`` if there is none."""
        return self._replace(identity, films=True)

    def _replace(self, identity: str, **changed: Any) -> Device | None:
        with self._changing() as devices:
            before = devices.get(identity)
            if before is not None:
                devices[identity] = replace(before, **changed)
        return before

    def note_seen(self, identity: str) -> None:
        """Note that a device has just sent a request."""
        with self._lock:
            self._seen[identity] = self._now_s()

    @property
    def is_due(self) -> bool:
        """Whether it is time to save when devices were seen."""
        with self._lock:
            return bool(self._seen) and self._now_s() - self._kept_s >= _SEEN_EVERY_S

    def save_seen_times(self) -> None:
        """Save when devices were seen. If the file can't be written, the next save tries again."""
        with self._lock:
            if not self._seen:
                return
            self._kept_s = self._now_s()
        with suppress(PageError), self._changing():
            pass

    def _with_seen_time(self, device: Device) -> Device:
        seen_s = max(device.seen_s, self._seen.get(device.id, 0.0))
        # A device that was paired before the clock was set counts as paired since it was seen with the right time.
        is_dated = device.paired_s >= _CLOCK_SET_S
        return replace(device, paired_s=device.paired_s if is_dated else seen_s, seen_s=seen_s)

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Device]]:
        """Yield the devices as they are in the file now, to be changed; they are written back on exit."""
        with self._changes:
            if self._path is None:
                with self._lock:
                    yield self._known
                return
            try:
                with self._locked(self._path):
                    with self._lock:
                        self._refresh()
                        devices = {identity: self._with_seen_time(device) for identity, device in self._known.items()}
                    yield devices
                    rows = [asdict(device) for device in devices.values()]
                    write_durably(self._path, json.dumps({"devices": rows}, indent=1), private=True)
                    with self._lock:
                        self._refresh()
                        self._seen = {
                            identity: seen_s
                            for identity, seen_s in self._seen.items()
                            if identity in devices and seen_s > devices[identity].seen_s
                        }
            except PageError:
                raise
            except OSError as error:
                raise PageError(
                    "the paired devices can't be kept in {path} ({strerror})", self._path, error.strerror
                ) from error

    @contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        """Keep other processes from changing the list; raises OSError, and DevicesBusyError if one does so for long."""
        # The list itself is replaced at each change, so the lock is on a file that stays. Whoever may open a file may
        # lock it, so that only this user may.
        descriptor = open_private(path.with_name(f"{path.name}.lock"), os.O_RDWR)
        try:
            for tries_left in reversed(range(_LOCK_TRIES)):
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if not tries_left:
                        raise DevicesBusyError(
                            "another program is changing the list of paired devices; try again"
                        ) from None
                self._wait(_LOCK_EVERY_S)
            yield
        finally:
            os.close(descriptor)

    def _refresh(self) -> None:
        """Read the file again if it has changed."""
        if self._path is None:
            return
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._stamp, self._known = None, {}
            return
        except OSError as error:
            raise _unreadable(self._path, error) from error
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if stamp != self._stamp:
            self._known, self._stamp = _read(self._path), stamp


def devices_path(key: Path) -> Path:
    """Return the path of the device list that belongs to a page's key file."""
    return key.with_name(f"{key.name.removesuffix('-key')}-devices")


def _read(path: Path) -> dict[str, Device]:
    try:
        devices = _DEVICES.validate_python(parse_json(read_text(path))["devices"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _unreadable(path, error) from error
    return {device.id: device for device in devices}


def _unreadable(path: Path, error: Exception) -> PageError:
    return PageError(
        "the paired devices {path} can't be read ({error}); delete the file, then pair the devices again", path, error
    )
