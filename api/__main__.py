"""`python -m egglift`: the command line."""

import sys

from egglift.cli import main

sys.exit(main())
