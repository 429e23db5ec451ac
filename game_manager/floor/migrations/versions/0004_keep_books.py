"""Keep the books of the progressives' gaming days."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:

    op.create_table(
        "books",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("progressive", sa.Text(), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("day", "record_id", "progressive"),
    )
    op.add_column("records", sa.Column("books_at", sa.Date(), nullable=True))
    op.execute(
        'CREATE VIEW all_books AS SELECT records."table", records.record, records.simulation, own.* '
        "FROM books AS own JOIN records ON records.id = own.record_id"
    )
