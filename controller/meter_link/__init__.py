"""The link between a table and the authority that keeps its meter, over MQTT: a module for each end, and what both share."""
