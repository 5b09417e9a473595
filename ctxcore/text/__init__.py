"""Languages, scripts, words, sentences and what stands out in a text, for all who read one."""
