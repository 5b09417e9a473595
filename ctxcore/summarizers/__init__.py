"""What turns folded messages into a text that stands for them."""
