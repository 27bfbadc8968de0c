"""`python -m migsim`: the command."""

from ._command import main

main()
