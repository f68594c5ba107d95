"""Saying the same in other words and another syntax, so that a claim which holds is no copy of its premise."""
