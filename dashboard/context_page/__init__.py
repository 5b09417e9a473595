"""The context page: verdicts, and shortened messages beside their originals."""
