"""Settings of the whole suite."""

import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None, print_blob=True)
settings.register_profile("offline", deadline=None, print_blob=True, max_examples=20_000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--offline", action="store_true", help="run the heavy versions of the privacy checks")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("offline" if config.getoption("--offline") else "suite")


@pytest.fixture(scope="session")
def offline(request: pytest.FixtureRequest) -> bool:
    """Whether the heavy versions were asked for."""
    return bool(request.config.getoption("--offline"))
