"""Runs the notebooks of the book and compares their outputs with the pages beside them.

With `UPDATE_RESULTS=1` the pages are written. Each notebook must end without an error, in under 120 s a cell.
"""

from __future__ import annotations

import base64
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import jupytext
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"

# The computing time of a run, addresses of objects, and temporary folders.
VARYING = [
    (re.compile(r"in [0-9.e-]+ s of CPU time \([0-9.e-]+ (\S+) per message\)"), r"in [..] s of CPU time ([..] \1 per message)"),
    (re.compile(r" at 0x[0-9a-f]+"), ""),
    (re.compile(r"/tmp/migsim-\w+"), "/tmp/migsim-[..]"),
]


def as_text(output: Any, picture: Path) -> str:
    """Converts an output of a cell into Markdown; a drawing is stored as `picture`."""
    data = output.get("data", {})
    if "image/png" in data:
        if os.environ.get("UPDATE_RESULTS"):
            picture.write_bytes(base64.b64decode(data["image/png"]))
        return f"![The figure that the cell draws]({picture.name})\n"
    text = output["text"] if output.output_type == "stream" else data["text/plain"]
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def whole(outputs: list[Any]) -> list[Any]:
    """Returns the outputs of a cell with its printed text in one piece, because Jupyter splits it depending on time."""
    joined: list[Any] = []
    for output in outputs:
        before = joined[-1] if joined else None
        if output.output_type != "stream":
            joined.append(output)
        elif output["name"] == "stdout" and before is not None and before.output_type == "stream":
            before["text"] += output["text"]
        elif output["name"] == "stdout":
            joined.append(output)
    return joined


def page(notebook: Any, file: Path) -> str:
    """Returns the notebook with its outputs, as a page of the book."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source + "\n")
        else:
            parts.append(f"```python\n{cell.source}\n```\n")
            parts.extend(as_text(output, file.with_suffix(".png")) for output in whole(cell.outputs))
    parts.append(f"This page is the notebook [{file.name}]({file.name}) with its outputs. Jupyter opens it with jupytext.\n")
    return "\n".join(parts)


def main() -> None:
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    files = sorted(FOLDER.glob("*.py"))
    if not files:
        sys.exit(f"{FOLDER}: no notebooks")
    stale = []
    for file in files:
        start = time.monotonic()
        notebook = jupytext.read(file)
        client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}})
        client.execute()
        outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        if not outputs or any(output.output_type == "error" for output in outputs):
            sys.exit(f"{file.name}: no output, or an error")
        text, written = page(notebook, file), file.with_suffix(".md")
        if os.environ.get("UPDATE_RESULTS"):
            written.write_text(text, encoding="utf-8")
        elif not written.exists() or written.read_text(encoding="utf-8") != text:
            stale.append(written.name)
        print(f"{file.name}: {len(outputs)} outputs in {time.monotonic() - start:.1f} s")
    if stale:
        sys.exit(f"not current: {', '.join(stale)}; write them with UPDATE_RESULTS=1")


if __name__ == "__main__":
    main()
