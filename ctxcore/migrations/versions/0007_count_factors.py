"""Whether a call's counts may be compared, and the count factor that a session has in force.

Calls from before teach nothing: nobody noted which counter they were counted with.

Revision 0007, after 0006.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("session", sa.Column("count_factor", sa.Text(), nullable=True))
    op.add_column("call", sa.Column("is_comparable", sa.Boolean(), nullable=True))
    op.create_index("ix_call_counted", "call", ["model", "counter_id", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_call_counted", "call")
    op.drop_column("call", "is_comparable")
    op.drop_column("session", "count_factor")
