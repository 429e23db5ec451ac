"""What every page stands on: the server, its guards, and the parts and fonts that pages share."""
