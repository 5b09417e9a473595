"""Notes beside messages: what a compaction needs of their texts to choose among them.

Rows from before have none: their texts are read.

Revision 0008, after 0007.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("message", sa.Column("notes", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("message", "notes")
