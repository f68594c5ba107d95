"""Human annotation: draw samples, label them in a page, measure agreement, and correct a run's rates."""
