"""What all that asks the network shares: the offline guard, keys, pacing."""
