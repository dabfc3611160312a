"""`python -m nebel` is `nebel`."""

import sys

from nebel.cli import main

sys.exit(main())
