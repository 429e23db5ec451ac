"""Pages that subscribe to MQTT and serve browsers; they command nothing."""
