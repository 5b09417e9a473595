"""What a context may take, when it is compacted, and the presets that name good answers."""
