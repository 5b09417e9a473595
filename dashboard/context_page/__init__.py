"""What the model is sent of a session: verdicts, and shortened messages beside their originals."""
