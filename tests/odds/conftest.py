"""The odds are loaded before numpy, as `punto odds` loads them: see `controller.odds`."""

import controller.odds as _  # noqa: F401
