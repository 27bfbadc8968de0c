"""Progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def bar(wanted: Any, unit: str) -> tuple[Callable[[int, int | None], object] | None, Callable[[], object]]:
    """Returns the functions that update (with the number done, and that of all if known) and close a bar.

    Without tqdm there is none. If nobody says whether it is wanted, it is shown on a terminal and in a notebook.
    """
    is_wanted = sys.stderr.isatty() or "ipykernel" in sys.modules if wanted is None else wanted
    if is_wanted:
        with suppress(ImportError):
            from tqdm.auto import tqdm

            shown = tqdm(unit=unit, leave=False, delay=0.5)

            def tell(done: int, total: int | None) -> None:
                shown.total = total
                shown.update((done if total is None else min(done, total)) - shown.n)

            return tell, shown.close
    return None, lambda: None
