"""Demonstrations: worked questions from training sets, chosen for each question; never its own answer.

pool = Pool.read(Path("pool.jsonl"), problems := Problems())
pool = decontaminate(pool, questions, Vectors.next_to(pool.path, Embedder.shared()))
selector = PoolSelector(pool, Selection("similar", shots=2), prompt)
shown = selector.choose(question, evidence_pmids)
"""

from vericite.generate.demonstrations.building import (
    Built,
    EvaluatedWriter,
    RationaleWriter,
    WritesRationales,
    build_pool,
)
from vericite.generate.demonstrations.pool import Exemplar, Pool, Removed
from vericite.generate.demonstrations.selection import (
    MOST_SHOTS,
    NEAR,
    PoolSelector,
    Selection,
    Vectors,
    Way,
    decontaminate,
)

__all__ = [
    "MOST_SHOTS",
    "NEAR",
    "Built",
    "EvaluatedWriter",
    "Exemplar",
    "Pool",
    "PoolSelector",
    "RationaleWriter",
    "Removed",
    "Selection",
    "Vectors",
    "Way",
    "WritesRationales",
    "build_pool",
    "decontaminate",
]
