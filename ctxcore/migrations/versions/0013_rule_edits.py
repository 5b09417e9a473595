"""What people say of the rules that are found: which are none, and which were missed.

Sessions from before have no such edits. Those in force also stand in the session's row, so that a
context reads no more rows than before.

Revision 0013, after 0012.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    time = sa.DateTime(timezone=True)
    op.create_table(
        "rule_edit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("set_by", sa.Text(), nullable=False),
        sa.Column("set_at", time, nullable=False),
        sa.Column("cleared_by", sa.Text(), nullable=True),
        sa.Column("cleared_at", time, nullable=True),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_rule_edit_session", "rule_edit", ["session_id", "seq"])
    op.add_column("session", sa.Column("rule_edits", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("session", "rule_edits")
    op.drop_index("ix_rule_edit_session", table_name="rule_edit")
    op.drop_table("rule_edit")
