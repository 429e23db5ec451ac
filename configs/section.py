"""The base of every section of a configuration file."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Strict types, immutable, unknown keys refused."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", defer_build=True)
