"""The database's history, as Alembic revisions; a released revision never changes.

To change the schema: edit `tables.py`, add a revision, set `HEAD` to it.
"""

HEAD = "0004"  # known without importing Alembic, which takes 0.7 s; a test holds it to the files
