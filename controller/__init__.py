"""The service: cards in, rules and record in the middle, MQTT out."""
