"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# A vocabulary is loaded with the first exact count, which takes longer than hypothesis allows.
# The default asks the same questions as long as the same modules are loaded, so that a change fails
# for what it changed; HYPOTHESIS_PROFILE=thorough looks for new ones.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", parent=settings.get_profile("default"), derandomize=False, max_examples=300
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
