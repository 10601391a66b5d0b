"""Settings of the whole suite."""

import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, print_blob=True, max_examples=400)
settings.register_profile("offline", deadline=None, print_blob=True, max_examples=20_000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--explore", action="store_true", help="draw new cases of the properties, and more of them")
    parser.addoption("--offline", action="store_true", help="run the heavy versions of the privacy checks")


def pytest_configure(config: pytest.Config) -> None:
    chosen = [name for name in ("offline", "explore") if config.getoption(name)]
    settings.load_profile(chosen[0] if chosen else "suite")


@pytest.fixture(scope="session")
def offline(request: pytest.FixtureRequest) -> bool:
    """Whether the heavy versions were asked for."""
    return bool(request.config.getoption("--offline"))
