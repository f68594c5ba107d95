"""Files kept between runs: caches, jobs, locks and buckets."""
