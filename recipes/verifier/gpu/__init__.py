"""Train verifiers and their teachers within the minutes of a borrowed GPU: what made version 4."""
