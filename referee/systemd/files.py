"""The files for systemd: the unit, the udev rules, and the size limit of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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
