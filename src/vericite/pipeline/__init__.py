"""The one place that joins the stages: plan, search, ask, check, repair, runs."""
