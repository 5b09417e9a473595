"""What the model sees of a history: read, chosen, rendered, explained."""
