"""Keep the alarms of live edges."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:

    op.create_table(
        "edge_alarms",
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("shoe", sa.Integer(), nullable=False),
        sa.Column("wager", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("edge", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("record_id", "shoe", "wager"),
    )
    op.create_index("edge_alarms_by_day", "edge_alarms", ["day"], unique=False)
    op.execute(
        'CREATE VIEW all_edge_alarms AS SELECT records."table", records.record, records.simulation, own.* '
        "FROM edge_alarms AS own JOIN records ON records.id = own.record_id"
    )
