"""The page's documents that list the paired devices and change them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from common.phrases import Phrase
from referee.commands.values import Role
from referee.errors import PageError
from referee.web.devices import PairedDevices
from referee.web.documents import Document


class DeviceDocument(Document):
    """A paired device; the times are ISO 8601 UTC."""

    id: str
    name: str
    role: str
    paired: str
    seen: str


class DevicesDocument(Document):
    """The paired devices, oldest pairing first."""

    devices: tuple[DeviceDocument, ...]


class DeviceChange(BaseModel):
    """A device's new role; ``none`` unpairs it."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(max_length=64)]
    role: Literal["look", "play", "own", "none"]


DEVICE_CHANGE: TypeAdapter[DeviceChange] = TypeAdapter(DeviceChange)


def devices_document(devices: PairedDevices) -> DevicesDocument:
    """List the devices; raises HTTPException if the list can't be read."""
    try:
        listed = devices.all()
    except PageError as error:
        raise HTTPException(503, f"{error}.") from error
    return DevicesDocument(
        devices=tuple(
            DeviceDocument(
                id=each.id,
                name=each.name,
                role=each.role.name.lower(),
                paired=_iso(each.paired_s),
                seen=_iso(each.seen_s),
            )
            for each in listed
        )
    )


async def change_device(devices: PairedDevices, fields: object) -> DevicesDocument:
    """Carry out a DeviceChange; raises HTTPException for invalid fields and for a device that isn't paired."""
    try:
        change = DEVICE_CHANGE.validate_python(fields)
    except ValidationError as error:
        raise HTTPException(422, Phrase("Give a device's id, and its role: look, play, own or none.")) from error
    role = Role.NOBODY if change.role == "none" else Role[change.role.upper()]
    try:
        changed = await run_in_threadpool(devices.change, change.id, role)
    except PageError as error:
        raise HTTPException(503, f"{error}.") from error
    if changed is None:
        raise HTTPException(404, Phrase("That device is not paired, or not any more."))
    return devices_document(devices)


def _iso(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).isoformat(timespec="seconds")
