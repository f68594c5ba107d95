"""Models from Hugging Face checkpoints: found, loaded and run the same way for whoever asks them what.

They need the extra ``[hf]``, which loads when one is made.
"""
