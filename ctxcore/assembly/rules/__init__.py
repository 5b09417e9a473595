"""What providers refuse, one home a rule: how it is found, and how a context is made legal."""
