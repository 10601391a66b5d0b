"""Options and profiles of the test suite."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a machine may be shared
settings.register_profile("quick", UNTIMED, derandomize=True, max_examples=30)
settings.register_profile("slow", UNTIMED, derandomize=True, max_examples=100)
settings.register_profile("explore", UNTIMED, print_blob=True, max_examples=400)
settings.register_profile("offline", UNTIMED, print_blob=True, max_examples=20_000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")
    parser.addoption("--explore", action="store_true", help="run the property tests on new and more cases")
    parser.addoption("--offline", action="store_true", help="run the privacy checks with many cases; includes --slow")


def pytest_configure(config: pytest.Config) -> None:
    # A suite in the background inherits ignored signals, which privhp leaves ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    # The processes that tests start share compiled modules.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # NumPy reads it when it is imported. Tests run on all processors, so threads of BLAS wait for each other.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    chosen = [name for name in ("offline", "explore", "slow") if config.getoption(name)]
    settings.load_profile(chosen[0] if chosen else "quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect slow tests by default."""
    if config.getoption("slow") or config.getoption("offline"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture(scope="session")
def slow(request: pytest.FixtureRequest) -> bool:
    """Whether the option --slow or --offline was given."""
    return bool(request.config.getoption("--slow") or request.config.getoption("--offline"))


@pytest.fixture(scope="session")
def offline(request: pytest.FixtureRequest) -> bool:
    """Whether the option --offline was given."""
    return bool(request.config.getoption("--offline"))
