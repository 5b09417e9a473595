"""How many tokens something takes: exact for OpenAI vocabularies, else estimated and flagged."""
