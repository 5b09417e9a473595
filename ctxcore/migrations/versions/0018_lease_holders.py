"""The process that holds a lease, and who waits for one.

Revision 0018, after 0017.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0018"
down_revision: str | None = "0017"
branch_labels: str | None = None
depends_on: str | None = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("lease", sa.Column("holder", sa.Text(), nullable=True))
    op.create_table(
        "lease_waiter",
        sa.Column("id", _BIG, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_lease_waiter_name", "lease_waiter", ["name", "id"])


def downgrade() -> None:
    op.drop_table("lease_waiter")
    op.drop_column("lease", "holder")
