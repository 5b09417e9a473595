"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A vocabulary is loaded with the first exact count, which takes longer than hypothesis allows.
settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
