"""What every section of a configuration file has in common."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Strict, unchangeable, and with no keys but its own."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")
