"""The shapes that providers write messages in: read into `Message` values and written back."""
