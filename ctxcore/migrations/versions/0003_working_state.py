"""The working state of a session, as the application says it.

Rows from before have none: it is read from the history.

Revision 0003, after 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("session", sa.Column("working", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("session", "working")
