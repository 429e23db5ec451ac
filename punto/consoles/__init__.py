"""The consoles of dealer and supervisor: their API and pages."""
