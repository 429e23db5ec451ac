"""Runs the migrations in the transaction of the store that is opened."""

from alembic import context

from punto.house.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
