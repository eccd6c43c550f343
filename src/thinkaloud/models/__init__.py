"""Facts about models and providers, as plain data."""
