"""The beginnings of requests that were made outside, each with its session.

Revision 0017, after 0016.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0017"
down_revision: str | None = "0016"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.create_table(
        "request_prefix",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"]),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "digest"),
    )
    op.create_index("ix_request_prefix_session", "request_prefix", ["session_id"])


def downgrade() -> None:
    op.drop_table("request_prefix")
