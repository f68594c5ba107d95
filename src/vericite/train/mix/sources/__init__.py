"""One file for each dataset, or for a few in the same format."""
