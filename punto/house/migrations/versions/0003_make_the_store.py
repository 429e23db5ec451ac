"""Make the store."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "games",
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("game", "rules"),
    )
    op.create_table(
        "records",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("simulation", sa.Boolean(), nullable=False),
        sa.Column("currency", sa.Text()),
        sa.Column("first_seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("rounds_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("rounds_ts", sa.DateTime(timezone=True)),
        sa.Column("incidents_at", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("books_at", sa.Date(), nullable=True),
        sa.Column("held_back", sa.Text()),
        sa.Column("heard_at", sa.DateTime(timezone=True)),
        sa.Column("told_rounds", sa.BigInteger()),
        sa.Column("told_first", sa.DateTime(timezone=True)),
        sa.Column("told_last", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("table", "record"),
    )
    op.create_table(
        "choices",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("table", sa.Text(), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("against", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("choices_of_table", "choices", ["table"], unique=False)
    op.create_table(
        "counts",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("rounds", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "record_id", "game", "rules", "status"),
    )
    op.create_table(
        "handles",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("wager", sa.Text(), nullable=False),
        sa.Column("wagers", sa.BigInteger(), nullable=False),
        sa.Column("staked", sa.BigInteger(), nullable=False),
        sa.Column("returned", sa.BigInteger(), nullable=False),
        sa.Column("squares", sa.Double(), nullable=False),
        sa.Column("rounded", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("day", "record_id", "game", "rules", "wager"),
    )
    op.create_table(
        "hits",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("wager", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("hits", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "record_id", "game", "rules", "wager", "rule"),
    )
    op.create_table(
        "exports",
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("part", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dropped", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("month", "name", "part"),
    )
    op.create_table(
        "incidents",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("where", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("day", "record_id", "seq", "place"),
        postgresql_partition_by="RANGE (day)",
    )
    op.create_table(
        "rounds",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("shoe", sa.Integer(), nullable=False),
        sa.Column("coup", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("player", sa.Text(), nullable=False),
        sa.Column("banker", sa.Text(), nullable=False),
        sa.Column("player_total", sa.SmallInteger(), nullable=False),
        sa.Column("banker_total", sa.SmallInteger(), nullable=False),
        sa.Column("winner", sa.Text(), nullable=True),
        sa.Column("natural", sa.Boolean(), nullable=False),
        sa.Column("corrects", sa.BigInteger(), nullable=True),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.Column("who", sa.Text(), nullable=True),
        sa.Column("approved_by", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("day", "record_id", "round"),
        postgresql_partition_by="RANGE (day)",
    )
    op.create_index("rounds_of_record", "rounds", ["record_id", "round"], unique=False)
    op.create_table(
        "acknowledgements",
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("record_id", "seq", "place"),
    )
    op.create_table(
        "settlements",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("round", sa.BigInteger(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("wager", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("stake", sa.BigInteger(), nullable=False),
        sa.Column("returned", sa.BigInteger(), nullable=False),
        sa.Column("net", sa.BigInteger(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("remainder", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("day", "record_id", "round", "seat", "wager"),
        postgresql_partition_by="RANGE (day)",
    )
    op.create_table(
        "accesses",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("where", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("incidents_by_time", "incidents", ["ts"], unique=False)
    op.create_index("incidents_of_record", "incidents", ["record_id", "seq", "place"], unique=False)
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
    op.create_table(
        "books",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("record_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("progressive", sa.Text(), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("day", "record_id", "progressive"),
    )
    for table in ("rounds", "settlements", "incidents", "counts", "handles", "hits", "edge_alarms", "books"):
        op.execute(
            f'CREATE VIEW all_{table} AS SELECT records."table", records.record, records.simulation, own.*, records.currency '  # noqa: S608 - literals
            f"FROM {table} AS own JOIN records ON records.id = own.record_id"
        )
