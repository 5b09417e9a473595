"""What contexts recalled for the requests of a session, which stays behind them.

Sessions from before have recalled nothing.

Revision 0010, after 0009.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    op.add_column("session", sa.Column("recalls", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("session", "recalls")
