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
    for at, line in enumerate(lines):
        starts = line.startswith(">>>")
        if starts and not is_example:
            out.append("```python")
            is_example = True
        elif is_example and not line.strip():
            out.append("```")
            is_example = False
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if following and set(following) == {"-"}:
            out += ["", f"*{line}*", ""]
        elif line and set(line) == {"-"}:
            continue
        elif line.startswith("    ") and not is_example:
            out.append(f"  {line.strip()}")
        elif line and not is_example and at + 1 < len(lines) and lines[at + 1].startswith("    "):
            out.append(f"- `{line}`:")
        else:
            out.append(line)
    if is_example:
        out.append("```")
    escaped, is_example = [], False
    for line in out:
        is_example ^= line.startswith("```")
        escaped.append(line if is_example else line.replace(" [", " \\["))
    return "\n".join(escaped)


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
            arguments = "" if isinstance(what, property) else signature(target)
            parts += [f"### `{name}.{member}{arguments}`", "", documented(target), ""]
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
