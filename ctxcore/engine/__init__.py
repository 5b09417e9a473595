"""Sessions that last: turns with a model, compactions with undo, all stored."""
