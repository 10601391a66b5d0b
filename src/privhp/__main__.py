"""`python -m privhp`: the command line."""

import sys

from privhp.cli import main

if __name__ == "__main__":
    sys.exit(main())
