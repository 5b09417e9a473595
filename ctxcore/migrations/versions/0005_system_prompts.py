"""The changes of a session's system prompt, a turn's own system prompt, and broken prompt caches.

Sessions from before have no changes: all their system messages are in force. Calls from before do
not say what system prompt and tools they were sent with.

Revision 0005, after 0004.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None

_COLUMNS = (
    ("session", "system_changes"),
    ("turn", "system"),
    ("call", "system_digest"),
    ("call", "tools_digest"),
    ("call", "cache_break"),
)


def upgrade() -> None:
    for table, column in _COLUMNS:
        op.add_column(table, sa.Column(column, sa.Text(), nullable=True))


def downgrade() -> None:
    for table, column in reversed(_COLUMNS):
        op.drop_column(table, column)
