"""Add the alarms that stand on the floor."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "standing_alarms",
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("alarm", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.Text(), nullable=True),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("table", "alarm"),
    )
