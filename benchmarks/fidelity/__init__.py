"""What a model still knows after a conversation was folded, beside peers, without any model."""
