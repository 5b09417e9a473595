"""The right of operators to read what others said, and records of who read it.

Operators had that right before, and keep it.

Revision 0019, after 0018.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: str | None = None
depends_on: str | None = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column(
        "user", sa.Column("is_auditor", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    user = sa.table("user", sa.column("is_auditor"), sa.column("is_operator"))
    op.execute(sa.update(user).values(is_auditor=user.c.is_operator))
    op.create_table(
        "audit",
        sa.Column("id", _BIG, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("is_operator", sa.Boolean(), nullable=True),
        sa.Column("is_auditor", sa.Boolean(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_audit_owner", "audit", ["owner_id", "id"])
    op.create_index("ix_audit_created", "audit", ["created_at"])


def downgrade() -> None:
    op.drop_table("audit")
    op.drop_column("user", "is_auditor")
