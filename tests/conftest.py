"""Hypothesis without deadlines, as machines are noisy; and no test writes to the user's cache."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("howsteps", deadline=None)
settings.load_profile("howsteps")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of their own for commands that have no work folder."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
