"""How a call was counted, and the count factor that a session has in force.

Calls from before teach nothing: nobody noted which counter they were counted with.

Revision 0007, after 0004.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("session", sa.Column("count_factor", sa.Text(), nullable=True))
    op.add_column("call", sa.Column("counter_id", sa.Text(), nullable=True))
    op.add_column("call", sa.Column("count_factor", sa.Float(), nullable=True))
    op.add_column("call", sa.Column("is_comparable", sa.Boolean(), nullable=True))
    op.create_index("ix_call_counted", "call", ["model", "counter_id", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_call_counted", "call")
    for name in ("is_comparable", "count_factor", "counter_id"):
        op.drop_column("call", name)
    op.drop_column("session", "count_factor")
