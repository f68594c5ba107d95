"""``python -m vericite``."""

from vericite.cli import main

main()
