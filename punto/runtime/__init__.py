"""What every program stands on: clock, pace, log, files with secrets, the broker's link."""
