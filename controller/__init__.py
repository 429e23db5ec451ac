"""The service: cards in, rules and record in the middle, MQTT out."""

__version__ = "0.1.0"
