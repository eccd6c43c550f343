"""`python -m thinkaloud.cli`, where the program itself is not on the path."""

import sys

from thinkaloud.cli.program import main

if __name__ == "__main__":
    sys.exit(main())
