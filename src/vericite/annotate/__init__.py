"""People's labels: drawn from a run, given in a page, held against each other, and used to correct the run's rates."""
