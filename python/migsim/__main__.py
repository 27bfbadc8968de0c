"""The command `migsim` of the package, also `python -m migsim`: the same code as the program."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> None:
    """Runs the command line of this process."""
    # The command handles Ctrl-C itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_core.run_in_process(["migsim", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
