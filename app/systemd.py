"""Running the referee as a systemd service: the unit, the udev rules, the size limit of the log, and reports to it."""

import contextlib
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

NAME = "tabletop-referee"
UNIT = f"{NAME}.service"
MARK = "# Made by Tabletop Referee's install command."
"""The first line of every file that this program installs, and may remove."""

DEVICE_GROUPS = ("video", "dialout", "gpio", "spi")
"""The groups that may use cameras, serial ports, the Pi's pins and its SPI bus on Debian and Raspberry Pi OS."""

WATCHDOG_S = 60
"""The watchdog's time. A verdict takes well under a second, so only a hung driver or process is silent this long."""

_BAD_ARGUMENTS = "2 3"
"""Exit codes for wrong options and settings, which a restart wouldn't fix."""

_HOME_NETWORKS = (
    "localhost 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 224.0.0.0/4 fe80::/10 fc00::/7 ff00::/8"
)

_CONFINEMENT = f"""\
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=tmpfs
PrivateTmp=yes
ProtectProc=invisible
ProcSubset=pid
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
KeyringMode=private
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
IPAddressDeny=any
IPAddressAllow={_HOME_NETWORKS}
UMask=0077
DevicePolicy=closed
DeviceAllow=char-video4linux rw
DeviceAllow=char-media rw
DeviceAllow=char-dma_heap rw
DeviceAllow=char-ttyACM rw
DeviceAllow=char-ttyUSB rw
DeviceAllow=char-ttyAMA rw
DeviceAllow=char-ttyS rw
DeviceAllow=char-gpiochip rw
DeviceAllow=char-spi rw
"""

UDEV_RULES = f"""\
{MARK}
# The Pi's pins for the group gpio, as on Raspberry Pi OS.
SUBSYSTEM=="gpio", KERNEL=="gpiochip*", GROUP="gpio", MODE="0660"
# ModemManager must not probe a Pico. It is always found as /dev/{NAME}.
SUBSYSTEM=="tty", ATTRS{{idVendor}}=="2e8a", ENV{{ID_MM_DEVICE_IGNORE}}="1", SYMLINK+="{NAME}"
"""

JOURNALD_LIMIT = f"""\
{MARK}
# The system's log takes no more of the card than this.
[Journal]
SystemMaxUse=200M
"""


@dataclass(frozen=True)
class Installation:
    """A referee that systemd starts.

    ``program`` is the script ``run``, ``folder`` its working folder, and ``arguments`` are those of ``watch``. It may
    read the ``readable`` files and folders, which may be missing, and write to the ``writable`` folders. The system's
    manager starts it as ``user``, with the additional ``groups``; without a ``user``, it is a service of the user's own
    manager.
    """

    program: Path
    folder: Path
    config: Path | None
    arguments: tuple[str, ...]
    readable: tuple[Path, ...]
    writable: tuple[Path, ...]
    user: str | None = None
    groups: tuple[str, ...] = ()

    def files(self) -> Mapping[Path, str]:
        """Return each file's text by its path, relative to the system's root folder or to the user's home folder."""
        if self.user is None:
            return {Path(".config/systemd/user") / UNIT: self.unit()}
        return {
            Path("etc/systemd/system") / UNIT: self.unit(),
            Path("etc/udev/rules.d") / f"70-{NAME}.rules": UDEV_RULES,
            Path("etc/systemd/journald.conf.d") / f"{NAME}.conf": JOURNALD_LIMIT,
        }

    def unit(self) -> str:
        """Return the unit's text."""
        settings = [] if self.config is None else ["--config", str(self.config)]
        command = " ".join(map(quote, [str(self.program), *settings, "watch", *self.arguments]))
        lines = [
            MARK,
            "[Unit]",
            "Description=Tabletop Referee",
            # Without a limit, because the camera may be plugged in much later.
            "StartLimitIntervalSec=0",
            "",
            "[Service]",
            "Type=notify",
            "NotifyAccess=main",
            f"WatchdogSec={WATCHDOG_S}",
            "TimeoutStartSec=120",
            "Restart=always",
            "RestartSec=5",
            f"RestartPreventExitStatus={_BAD_ARGUMENTS}",
            f"WorkingDirectory={escape(str(self.folder))}",
            f"ExecStart={command}",
            "LogRateLimitIntervalSec=60",
            "LogRateLimitBurst=300",
        ]
        if self.user is None:
            return "\n".join([*lines, "NoNewPrivileges=yes", "", "[Install]", "WantedBy=default.target", ""])
        lines += [
            f"User={self.user}",
            f"SupplementaryGroups={' '.join(self.groups)}",
            f"BindReadOnlyPaths={_format_paths(self.readable, optional=True)}",
            f"BindPaths={_format_paths(self.writable)}",
            _CONFINEMENT.rstrip(),
        ]
        return "\n".join([*lines, "", "[Install]", "WantedBy=multi-user.target", ""])


def _format_paths(paths: Sequence[Path], *, optional: bool = False) -> str:
    """List paths to mount; a colon in a path is escaped. The service starts without ``optional`` ones."""
    mark = "-" if optional else ""
    return " ".join(_quote(f"{mark}{path}").replace(":", "\\:") for path in paths)


def escape(text: str) -> str:
    """Escape a text's percent signs, which systemd would expand."""
    return text.replace("%", "%%")


def quote(text: str) -> str:
    """Quote a word of a command line, where systemd also expands variables (systemd.service(5), "Command lines")."""
    return _quote(text).replace("$", "$$")


def _quote(text: str) -> str:
    inner = escape(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'


_USUAL_INTERVAL_S = 10.0
"""How often, in seconds, to report to a manager without a watchdog."""


class Supervisor:
    """Reports to the service manager by datagrams, as sd_notify(3) describes; does nothing without a manager.

    Inside the context, the service is ready. ``address`` is the manager's socket, ``interval_s`` how often ``alive``
    reports, ``now`` a monotonic clock in seconds, and ``status`` is shown by ``systemctl status``. A report that can't
    be delivered is dropped, so that a manager that doesn't listen can't stop a game.
    """

    def __init__(self, address: str, interval_s: float, now: Callable[[], float], status: str) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._status = status
        self._interval_s = interval_s
        self._now = now
        self._reported_s: float | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], now: Callable[[], float], status: str) -> Self:
        """Take the socket and the watchdog's time from the variables that systemd sets.

        ``alive`` then reports three times within the watchdog's time.
        """
        watchdog_us = environment.get("WATCHDOG_USEC", "")
        interval_s = int(watchdog_us) / 3e6 if watchdog_us.isdecimal() else _USUAL_INTERVAL_S
        return cls(environment.get("NOTIFY_SOCKET", ""), interval_s, now, status)

    def __enter__(self) -> Self:
        """Report that the game can begin."""
        self._send(f"READY=1\nSTATUS={self._status}")
        return self

    def __exit__(self, *_: object) -> None:
        """Report that the referee is about to end."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """Report that the referee still runs, if a report is due."""
        now_s = self._now()
        if self._reported_s is None or now_s - self._reported_s >= self._interval_s:
            self._reported_s = now_s
            self._send("WATCHDOG=1")

    def _send(self, report: str) -> None:
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, contextlib.suppress(OSError):
            sender.setblocking(False)
            sender.sendto(report.encode(), self._address)
