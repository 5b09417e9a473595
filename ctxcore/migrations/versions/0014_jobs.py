"""Jobs: long work that a person started, such as trials of policies, with progress and result.

Revision 0014, after 0013.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0014"
down_revision: str | None = "0013"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    time = sa.DateTime(timezone=True)
    op.create_table(
        "job",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", time, nullable=False),
        sa.Column("lease_until", time, nullable=False),
        sa.Column("finished_at", time, nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["user.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_job_user", "job", ["user_id", "created_at"])
    op.create_index("ix_job_state", "job", ["state", "finished_at"])
    op.create_table(
        "job_session",
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["session_id"], ["session.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "session_id"),
    )
    op.create_index("ix_job_session", "job_session", ["session_id"])


def downgrade() -> None:
    op.drop_table("job_session")
    op.drop_table("job")
