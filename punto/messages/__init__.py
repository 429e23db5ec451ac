"""Every MQTT topic and payload; the schemas are made from these models."""
