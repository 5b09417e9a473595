"""The compaction dialog, and the buttons that compact, undo and redo."""

from dashboard.compaction_dialog.buttons import (
    compact_button,
    compaction_buttons,
    redo_compaction,
    undo_compaction,
)
from dashboard.compaction_dialog.dialog import compaction_dialog
from dashboard.compaction_dialog.proposing import close_compaction, open_compaction

__all__ = [
    "close_compaction",
    "compact_button",
    "compaction_buttons",
    "compaction_dialog",
    "open_compaction",
    "redo_compaction",
    "undo_compaction",
]
