"""Shared by everything that uses the network: the offline guard, keys and pacing."""
