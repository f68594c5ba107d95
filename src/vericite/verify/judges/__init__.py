"""Judges: who reads a premise and a claim and says how likely the one entails the other."""
