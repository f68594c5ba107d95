"""Score two systems' answers to the same questions, and compare them."""

import vericite as vc

for figure in vc.score(
    {"first": "examples/score/first", "second": "examples/score/second"}, "examples/score/gold.jsonl"
):
    print(figure.system, figure.measure, figure.estimate.value, figure.estimate.n)
for comparison in vc.compare("examples/score/first", "examples/score/second", "SupportRate"):
    print(comparison.sentence)
