"""What a conversation is made of: messages, their parts, and the dictionaries at the edge."""
