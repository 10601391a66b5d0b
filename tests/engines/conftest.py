"""Tests on real sessions of engines; `make engines` installs them and runs these tests."""

import os

if "PRIVHP_ENGINES" not in os.environ:
    collect_ignore_glob = ["test_*.py"]
