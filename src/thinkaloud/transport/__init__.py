"""The only code that does HTTP."""
