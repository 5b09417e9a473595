"""What a provider left out of a request by itself, as Anthropic's context editing does.

Calls from before have no such number.

Revision 0021, after 0020.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0021"
down_revision: str | None = "0020"
branch_labels: str | None = None
depends_on: str | None = None

_COLUMNS = ("cleared_parts", "cleared_tokens")


def upgrade() -> None:
    for name in _COLUMNS:
        op.add_column("call", sa.Column(name, sa.Integer(), nullable=True))


def downgrade() -> None:
    for name in reversed(_COLUMNS):
        op.drop_column("call", name)
