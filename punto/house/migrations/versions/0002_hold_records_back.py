"""Hold records back of which nobody has decided whether they are the table's."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("records", sa.Column("held_back", sa.Text(), nullable=True))
