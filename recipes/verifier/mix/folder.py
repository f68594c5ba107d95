"""A folder of data sets: its files by their paths in it, each read once."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from vericite.errors import InputError

Row = dict[str, Any]


class DataFolder:
    """The folder of data sets that the recipes train from; what its files hold is kept as they have it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, Any] = {}

    def _path(self, name: str) -> Path:
        path = self.root / name
        if not path.exists():
            raise InputError(
                f"expected the data folder to hold {name}; found none in {self.root}. "
                "Name the folder with --data, or leave the set out with --without."
            )
        return path

    def json(self, name: str) -> Any:
        """A JSON file."""
        if name not in self._read:
            self._read[name] = json.loads(self._path(name).read_text(encoding="utf-8"))
        return self._read[name]

    def jsonl(self, name: str) -> list[Row]:
        """A file of JSON lines, gzipped or not."""
        if name not in self._read:
            path = self._path(name)
            raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            self._read[name] = [json.loads(line) for line in raw.decode("utf-8").split("\n") if line.strip()]
        return self._read[name]

    def csv(self, name: str) -> list[Row]:
        """A comma-separated file with a header."""
        if name not in self._read:
            with self._path(name).open(encoding="utf-8", newline="") as file:
                self._read[name] = list(csv.DictReader(file))
        return self._read[name]

    def lines(self, name: str) -> list[str]:
        """The lines of a text file."""
        return self._path(name).read_text(encoding="utf-8").split("\n")

    def questions(self, folder: str) -> list[Row]:
        """The BioASQ questions of all files in a folder, each id once."""
        found: dict[str, Row] = {}
        for path in sorted(self._path(folder).rglob("*.json")):
            for question in self.json(str(path.relative_to(self.root)))["questions"]:
                found.setdefault(question["id"], question)
        return list(found.values())

    @cached_property
    def corpus(self) -> list[Row]:
        """The documents of the retrieval corpus that are whole abstracts."""
        return [row for row in self.jsonl("corpus/pubmed_corpus.jsonl.gz") if row["full"]]
