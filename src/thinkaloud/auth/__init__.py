"""Credentials: each kind yields the headers that one request needs, and shows its secret to nobody else."""
