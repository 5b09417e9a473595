"""Sessions written as files, in the forms of a registry; nothing here reads or stores."""
