"""Questions and answers over HTTP, for programs."""
