"""What all tests share: how Hypothesis tries, and how it tells what failed."""

from hypothesis import settings

# Not derandomised: every run tries new seeds, and a failure prints the blob that brings it back.
settings.register_profile("default-of-ramify", deadline=None, print_blob=True, derandomize=False)
settings.load_profile("default-of-ramify")
