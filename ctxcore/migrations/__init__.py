"""The revisions of the database schema (Alembic); a released revision never changes.

To change the schema: edit `tables.py`, add a revision, set `HEAD` to it.
"""

HEAD = "0021"  # known without importing Alembic, which takes 0.7 s; a test holds it to the files
