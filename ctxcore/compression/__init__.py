"""Tool outputs made smaller, with their structure kept."""
