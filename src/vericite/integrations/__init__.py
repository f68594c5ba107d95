"""Metrics, scorers and guards for other evaluation libraries, one module for each.

A module imports its library, which the user installs; nothing else in VeriCite imports these modules. All except the
pytest plug-in take their figures and reasons from ``scores``.
"""
