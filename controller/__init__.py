"""The service of one table: it receives cards, applies the rules, writes the record and publishes over MQTT."""
