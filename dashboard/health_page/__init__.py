"""The health page: the state of the installation, for operators."""
