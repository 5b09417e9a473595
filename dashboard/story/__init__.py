"""Why something was forgotten: the story of a message, told for a message or for a phrase."""

from dashboard.story.asking import show_question
from dashboard.story.telling import show_story

__all__ = ["show_question", "show_story"]
