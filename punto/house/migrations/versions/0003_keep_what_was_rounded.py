"""Keep what was rounded. Of the days before, it counts as nothing."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
_VIEW = (
    'SELECT records."table", records.record, records.simulation, own.day, own.record_id, own.game, own.rules, own.wager, own.wagers, '
    "own.staked, own.returned, own.squares, records.currency, own.rounded FROM handles AS own JOIN records ON records.id = own.record_id"
)


def upgrade() -> None:
    op.add_column("handles", sa.Column("rounded", sa.Double(), nullable=False, server_default="0"))
    if op.get_context().dialect.name == "postgresql":  # who may read the view may go on
        op.execute(f"CREATE OR REPLACE VIEW all_handles AS {_VIEW}")
    else:
        op.execute("DROP VIEW all_handles")
        op.execute(f"CREATE VIEW all_handles AS {_VIEW}")
