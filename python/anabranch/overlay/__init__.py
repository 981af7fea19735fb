"""Compares real runs with simulated ones: prediction bands, and a verdict for each quantity.

``verdict`` has the statistics. ``plan`` reads what a scenario says about real runs, ``real`` does these runs over
emulated links, ``foreign`` has programs with other stacks, ``observe`` reads quantities in time bins from results,
``chart`` draws them, and ``command`` is ``anabranch overlay``.
"""

from .verdict import Comparison, LateRunError, compare, prediction_band, ratio_of_means, refuse_late

__all__ = ["Comparison", "LateRunError", "compare", "prediction_band", "ratio_of_means", "refuse_late"]
