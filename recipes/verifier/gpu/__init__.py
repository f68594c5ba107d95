"""Train verifiers and their teachers within the minutes of a borrowed GPU: what made versions 4 and 5."""

CHOOSING = (
    "healthver_dev",
    "scifact_dev",
    "clinifact_dev",
    "nli4ct_dev",
    "attributionbench_dev",
    "wice_dev",
    "reworded",
)
"""Dev files whose mean decides between models: labels by people, of several origins. Here, as this folder travels."""
