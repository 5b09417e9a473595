"""What reports and alerts read: sizes of calls for sums, failed summaries, spending, alerts.

Calls from before have the size that was sent. Where no compaction was active that is also the size
without one; for the others it is not known.

Revision 0015, after 0014.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: str | None = None
depends_on: str | None = None

_TALLIED = (
    "session_id",
    "policy_version_id",
    "purpose",
    "created_at",
    "model",
    "is_imported",
    "cost",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "cache_hour_tokens",
    "sent_tokens",
    "without_tokens",
    "rewritten_tokens",
    "error_code",
)
_NOT_SENT = "('reserve', 'free', 'window')"
_SENT = {
    "sqlite": f"(SELECT SUM(value) FROM json_each(estimate) WHERE key NOT IN {_NOT_SENT})",
    "postgresql": (
        "(SELECT SUM(value::bigint) FROM json_each_text(estimate::json)"
        f" WHERE key NOT IN {_NOT_SENT})"
    ),
}
_CODE = {
    "sqlite": "json_extract({column}, '$.code')",
    "postgresql": "({column}::json ->> 'code')",
}
_BY_COMPACTION = "('break.compaction', 'break.undo')"


def upgrade() -> None:
    for name in ("without_tokens", "sent_tokens", "rewritten_tokens"):
        op.add_column("call", sa.Column(name, sa.Integer(), nullable=True))
    op.add_column("call", sa.Column("error_code", sa.Text(), nullable=True))
    op.add_column("compaction", sa.Column("has_failed", sa.Boolean(), nullable=True))
    _fill(op.get_bind().dialect.name)
    op.create_index("ix_call_tallied", "call", list(_TALLIED))
    op.create_index("ix_event_kind", "event", ["kind", "id"])
    op.create_table(
        "spending",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("period", sa.Text(), nullable=False),
        sa.Column("dollars", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "period"),
    )
    op.create_table(
        "alert",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_by", sa.Text(), nullable=True),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("cause", name="uq_alert_cause"),
    )
    op.create_index("ix_alert_unseen", "alert", ["seen_at", "id"])


def _fill(database: str) -> None:
    """Fills the new columns of calls as `ctxcore.store.rows.dump_call` does."""
    code = _CODE[database].format
    op.execute(
        f"UPDATE call SET sent_tokens = {_SENT[database]}"
        " WHERE purpose = 'answer' AND estimate <> '{}'"
    )
    op.execute("UPDATE call SET without_tokens = sent_tokens WHERE compaction_id IS NULL")
    op.execute(
        f"UPDATE call SET error_code = {code(column='error')}"
        " WHERE error IS NOT NULL AND error <> 'null'"
    )
    op.execute(
        "UPDATE call SET rewritten_tokens = input_tokens - cached_tokens"
        " WHERE cache_break IS NOT NULL AND cache_break <> 'null'"
        f" AND {code(column='cache_break')} IN {_BY_COMPACTION}"
    )


def downgrade() -> None:
    op.drop_table("alert")
    op.drop_table("spending")
    op.drop_index("ix_event_kind", table_name="event")
    op.drop_index("ix_call_tallied", table_name="call")
    op.drop_column("compaction", "has_failed")
    for name in ("error_code", "rewritten_tokens", "sent_tokens", "without_tokens"):
        op.drop_column("call", name)
