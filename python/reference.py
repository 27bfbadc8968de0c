"""Writes the reference of the package (docs/reference/python.md) from its docstrings.

python -P python/reference.py          writes it
python -P python/reference.py --check  fails if it would change
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import migsim
from migsim import gymnasium, otf2

FILE = Path(__file__).parents[1] / "docs" / "reference" / "python.md"


def signature(value: object) -> str:
    try:
        text = str(inspect.signature(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    return text.replace("migsim._arguments.", "").replace("'", "")


def documented(value: object) -> str:
    """Converts a docstring into Markdown: examples in fences, sections of parameters as lists."""
    lines, out, is_example = (inspect.getdoc(value) or "").split("\n"), [], False
    for line, following in zip(lines, [*lines[1:], ""]):
        if is_example != (bool(line.strip()) if is_example else line.startswith(">>>")):
            out.append("```" if is_example else "```python")
            is_example = not is_example
        if is_example:
            out.append(line)
        elif following and set(following) == {"-"}:
            out += ["", f"*{line}*", ""]
        elif not line or set(line) != {"-"}:
            text = line.replace(" [", " \\[")
            if line.startswith("    "):
                text = f"  {text.strip()}"
            elif line and following.startswith("    "):
                text = f"- `{text}`:"
            out.append(text)
    return "\n".join([*out, "```"] if is_example else out)


def page() -> str:
    parts = [
        "# The Python package",
        "",
        "Written from its docstrings by `python -P python/reference.py`.",
        "",
    ]
    for name, value in sorted(vars(migsim).items(), key=lambda item: item[0].lower()):
        if name.startswith("_") or not callable(value) or name in ("Action", "Answer", "Value"):
            continue
        kind = "class " if inspect.isclass(value) else ""
        parts += [f"## `{name}`", "", f"`{kind}migsim.{name}{signature(value)}`", "", documented(value), ""]
        if not inspect.isclass(value) or issubclass(value, dict):
            continue
        for member, what in vars(value).items():
            if member.startswith("_") or not (callable(what) or isinstance(what, (property, classmethod))):
                continue
            target = what.__func__ if isinstance(what, classmethod) else what
            parts += [f"### `{name}.{member}{signature(target)}`", "", documented(target), ""]
    parts += ["## `migsim.gymnasium`", "", documented(gymnasium), "", "### `migsim.gymnasium.Env`", "", documented(gymnasium.Env), ""]
    parts += ["## `migsim.otf2`", "", documented(otf2), ""]
    parts += [f"### `migsim.otf2.convert{signature(otf2.convert)}`", "", documented(otf2.convert), ""]
    return "\n".join(parts).rstrip() + "\n"


def main() -> None:
    text = page()
    if "--check" in sys.argv:
        if FILE.read_text(encoding="utf-8") != text:
            sys.exit(f"{FILE} is not what the docstrings say: run `python -P python/reference.py`")
        return
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
