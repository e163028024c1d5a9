#!/usr/bin/env python3
"""pictures.py [--check]

Draws commands of the sessions beside this file, with what they print, as the terminal pictures of the documentation
(docs/pictures/cli-NAME.svg). The sessions are tested, so the pictures show what the programs print. --check: compares only.
"""
import html
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PICTURES = HERE.parents[1] / "docs" / "pictures"
# Name of the picture, session, and the beginning of the command.
SHOWN = [
    ("topology", "ascend_engineer", "chipweave topo show ascend-910a-8"),
    ("place", "ml_engineer", "chipweave place --machine h100 --size 4"),
    ("pods", "ml_engineer", "chipweave pods -n team"),
    ("what-if", "operator", "chipweave what-if --fail gpu-2"),
    ("lint", "ascend_engineer", "chipweave ranktable lint twice.json"),
]
MARGIN, LINE, WIDTH = 16, 20, 8.43  # pixels; the width of a character at 14 px
TEXT, DIM, GROUND = "#e6e6e6", "#8fd18f", "#1e1e2e"


def session_lines(session, command):
    lines = (HERE / f"{session}.session").read_text().splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith(f"$ {command}"))
    end = begin + 1
    while end < len(lines) and not lines[end].startswith(("$ ", "@", "#")):
        end += 1
    # "|" keeps a line that would end the output; the exit code is not drawn.
    shown = [line[1:] if line.startswith("|") else line for line in lines[begin:end]]
    while shown and not shown[-1] or shown[-1].startswith("[") and shown[-1][1:-1].isdigit():
        shown.pop()
    return [line.replace("AGE", "5s") if "REASON" not in line and "SEEN" not in line else line for line in shown]


def picture(lines):
    width = round(2 * MARGIN + WIDTH * max(len(line) for line in lines))
    height = 2 * MARGIN + LINE * len(lines)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           f'role="img">',
           f"<title>{html.escape(lines[0][2:])}</title>",
           f'<rect width="{width}" height="{height}" rx="8" fill="{GROUND}"/>',
           '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">']
    for number, line in enumerate(lines):
        if line:
            out.append(f'<text x="{MARGIN}" y="{MARGIN + LINE * number + 14}" fill="{DIM if number == 0 else TEXT}">'
                       f"{html.escape(line)}</text>")
    return "\n".join([*out, "</g>", "</svg>", ""])


def main():
    stale = []
    for name, session, command in SHOWN:
        file = PICTURES / f"cli-{name}.svg"
        drawn = picture(session_lines(session, command))
        if sys.argv[1:] != ["--check"]:
            file.write_text(drawn)
        elif not file.exists() or file.read_text() != drawn:
            stale.append(file.name)
    if stale:
        sys.exit(f"not as the sessions: {', '.join(stale)}; run tests/users/pictures.py")


if __name__ == "__main__":
    main()
