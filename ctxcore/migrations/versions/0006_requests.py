"""What each call was sent: a digest, a recipe, and the texts that no message holds.

Calls from before have neither: their requests cannot be made again.

Revision 0006, after 0005.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("call", sa.Column("digest", sa.Text(), nullable=True))
    op.add_column("call", sa.Column("counter_id", sa.Text(), nullable=True))
    op.add_column("call", sa.Column("count_factor", sa.Float(), nullable=True))
    op.add_column("call", sa.Column("recipe", sa.Text(), nullable=True))
    op.create_table(
        "sent_text",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", "address"),
    )


def downgrade() -> None:
    op.drop_table("sent_text")
    for name in ("recipe", "count_factor", "counter_id", "digest"):
        op.drop_column("call", name)
