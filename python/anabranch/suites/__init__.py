"""Suites: sets of scenarios that compare congestion controls or sets of options, with a table as result.

``fairness`` is about the design rules of multipath transport, ``bonding`` about whether several paths are faster than
the best one. Each has ``measure``, which runs the scenarios, and ``table``, which shows the numbers.
"""
