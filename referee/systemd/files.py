"""The files by which systemd starts the referee: the unit, the rules for devices, and the bound of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NAME = "tabletop-referee"
UNIT = f"{NAME}.service"
MARK = "# Made by Tabletop Referee's install command."
"""The first line of every file that is ours to remove."""

DEVICE_GROUPS = ("video", "dialout", "gpio", "spi")
"""Whoever is in these may use cameras, serial ports, the Pi's pins and its SPI bus on Debian and Raspberry Pi OS."""

WATCHDOG_S = 60
"""A verdict takes well under a second; only a hung camera driver or a stopped process is silent this long."""

_BAD_ARGUMENTS = "2 3"
"""Exit codes of wrong options and settings, which another start would not mend."""

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
DeviceAllow=char-ttyACM rw
DeviceAllow=char-ttyUSB rw
DeviceAllow=char-gpiochip rw
DeviceAllow=char-spi rw
"""

UDEV_RULES = f"""\
{MARK}
# The Pi's pins for the group gpio, as on Raspberry Pi OS.
SUBSYSTEM=="gpio", KERNEL=="gpiochip*", GROUP="gpio", MODE="0660"
# A Pico is no modem to be tried out, and is always found as /dev/{NAME}.
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
    """A referee that starts by itself.

    ``program`` is the script ``run``; ``folder`` is where it is started; ``arguments`` are those of ``watch``.
    ``readable`` are the folders that it needs, ``writable`` those that it writes into. ``user`` is whose games these
    are: the system starts the referee as that user, who is given the ``groups``; ``None`` leaves it to the user's own
    service manager.
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
        """Return each file's text, by its path below the root folder of the system, or below the user's own."""
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
        command = " ".join(map(quoted, [str(self.program), *settings, "watch", *self.arguments]))
        lines = [
            MARK,
            "[Unit]",
            "Description=Tabletop Referee",
            # A camera that is plugged in tomorrow is still waited for.
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
            f"WorkingDirectory={escaped(str(self.folder))}",
            f"ExecStart={command}",
            "LogRateLimitIntervalSec=60",
            "LogRateLimitBurst=300",
        ]
        if self.user is None:
            return "\n".join([*lines, "NoNewPrivileges=yes", "", "[Install]", "WantedBy=default.target", ""])
        lines += [
            f"User={self.user}",
            f"SupplementaryGroups={' '.join(self.groups)}",
            f"BindReadOnlyPaths={_listed(self.readable)}",
            f"BindPaths={_listed(self.writable)}",
            _CONFINEMENT.rstrip(),
        ]
        return "\n".join([*lines, "", "[Install]", "WantedBy=multi-user.target", ""])


def _listed(paths: Sequence[Path]) -> str:
    """Write folders to be mounted; a colon would end a path."""
    return " ".join(quoted(str(path)).replace(":", "\\:") for path in paths)


def escaped(text: str) -> str:
    """Write a text so that systemd takes no specifier out of it."""
    return text.replace("%", "%%")


def quoted(text: str) -> str:
    """Write a word of a command line as systemd reads it (systemd.service(5), "Command lines")."""
    inner = escaped(text).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$").replace("\n", "\\n")
    return f'"{inner}"'
