"""How much of what a call wrote to the provider's cache is kept for an hour, which costs more.

Calls from before have no such number; all of what they wrote costs the same.

Revision 0012, after 0011.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | None = None
depends_on: str | None = None

_BILLED = (
    "model",
    "is_imported",
    "cost",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "cache_hour_tokens",
)
"""What costs are summed from, so that the long verdicts beside it are not read."""


def upgrade() -> None:
    op.add_column("call", sa.Column("cache_hour_tokens", sa.Integer(), nullable=True))
    op.create_index("ix_call_billed", "call", ["session_id", *_BILLED])


def downgrade() -> None:
    op.drop_index("ix_call_billed", table_name="call")
    op.drop_column("call", "cache_hour_tokens")
