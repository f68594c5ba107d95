"""What is kept on disk between runs: where (``folder``), and how (``store``, which loads SQLite)."""
