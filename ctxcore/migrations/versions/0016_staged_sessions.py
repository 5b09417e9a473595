"""Sessions that are being imported: in no list until they are complete.

Revision 0016, after 0015.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | None = "0015"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("session", sa.Column("staged_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("session", "staged_at")
