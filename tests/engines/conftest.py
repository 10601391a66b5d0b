"""Tests on real sessions of engines; `make engines` installs them and runs these tests."""

import os
import sys

if "PRIVHP_ENGINES" in os.environ:
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the workers of Spark run the Python of the tests
else:
    collect_ignore_glob = ["test_*.py"]
