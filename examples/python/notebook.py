"""In a notebook, the last line of a cell shows the table of verdicts."""

import vericite as vc

run = vc.ask("Does hydroxychloroquine reduce mortality in patients hospitalised with COVID-19?")
print(run.answer.text)
run.checked
