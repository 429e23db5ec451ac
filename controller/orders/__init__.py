"""The order desk: who may give which order, who signs and approves it, and the socket where orders come in."""
