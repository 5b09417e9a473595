"""The index of the calls that a provider counted too holds only these, with all that is asked.

Revision 0020, after 0019.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0020"
down_revision: str | None = "0019"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.drop_index("ix_call_counted", "call")
    op.create_index(
        "ix_call_counted",
        "call",
        ["model", "counter_id", "created_at"],
        sqlite_where=sa.text("is_comparable IS 1 AND input_tokens IS NOT NULL"),
        postgresql_where=sa.text("is_comparable IS true AND input_tokens IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_call_counted", "call")
    op.create_index("ix_call_counted", "call", ["model", "counter_id", "created_at"])
