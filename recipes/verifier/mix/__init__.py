"""The training mix of the verifier: what it is made of, how it is broken on purpose, what may not be in it."""
