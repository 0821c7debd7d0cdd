"""The base of the settings' sections, which the rooms define whose settings they are."""

from typing import get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticKnownError


class Section(BaseModel):
    """A section of the settings file. Its docstring becomes the section's comment in the example file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _check_number(cls, value: object, info: ValidationInfo) -> object:
        """Refuse true and false as a number, which pydantic would take for 1 and 0."""
        annotation = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and (numbers := {int, float} & {annotation, *get_args(annotation)}):
            raise PydanticKnownError("int_type" if int in numbers else "float_type")
        return value
