"""Judges: read a premise and a claim and return how likely the premise entails the claim."""
