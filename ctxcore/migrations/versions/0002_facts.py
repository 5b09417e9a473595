"""The facts of a message beside it, and the facts that a compaction lost.

Rows from before have none: their facts are found when they are read.

Revision 0002, after 0001.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None

_WITH_RULES = sa.text("rules IS NULL OR rules > 0")


def upgrade() -> None:
    op.add_column("message", sa.Column("facts", sa.Text(), nullable=True))
    op.add_column("message", sa.Column("rules", sa.Integer(), nullable=True))
    op.create_index(
        "ix_message_rules",
        "message",
        ["session_id", "seq"],
        sqlite_where=_WITH_RULES,
        postgresql_where=_WITH_RULES,
    )
    op.add_column("compaction", sa.Column("facts_lost", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("compaction", "facts_lost")
    op.drop_index("ix_message_rules", "message")
    op.drop_column("message", "rules")
    op.drop_column("message", "facts")
