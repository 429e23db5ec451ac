"""Every MQTT topic and payload; the schemas in docs/ are made from these models."""
