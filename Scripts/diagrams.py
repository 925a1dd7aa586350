#!/usr/bin/env python3
"""Draws the diagrams of the guide, light and dark: Documentation.docc/*.svg and *~dark.svg. They are drawn by a script so that
both have the same lines and the same words.

  Scripts/diagrams.py           writes them
  Scripts/diagrams.py --check   fails when they are not what the script draws
"""
import pathlib
import sys
from xml.sax.saxutils import escape

OUT = pathlib.Path(__file__).resolve().parent.parent / "Documentation.docc"
WIDTH = 720
LIGHT = dict(ink="#1d1d1f", soft="#6e6e73", line="#86868b", box="#f5f5f7", blue="#0066cc", blueBox="#e8f1fb", green="#1a7f37", greenBox="#e6f4ea",
             red="#c9252d", redBox="#fdecec", paper="#ffffff")
DARK = dict(ink="#f5f5f7", soft="#a1a1a6", line="#86868b", box="#2c2c2e", blue="#6cb4ff", blueBox="#12304d", green="#56d364", greenBox="#12351f",
            red="#ff8a80", redBox="#4a1c1c", paper="#1b1b1d")
FONT = "-apple-system, BlinkMacSystemFont, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, sans-serif"


class Drawing:
    def __init__(self, title, description, height, colors):
        self.title, self.description, self.height, self.c = title, description, height, colors
        self.parts = []

    def text(self, x, y, words, size=14, color="ink", anchor="middle", weight=400, mono=False):
        family = ' font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"' if mono else ""
        self.parts.append(f'<text x="{x}" y="{y}" font-size="{size}" fill="{self.c[color]}" text-anchor="{anchor}" '
                          f'font-weight="{weight}"{family}>{escape(words)}</text>')

    def box(self, x, y, width, height, lines, kind="", mono=False):
        fill, stroke = (self.c[kind + "Box"], self.c[kind]) if kind else (self.c["box"], self.c["line"])
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{fill}" stroke="{stroke}"/>')
        lines = [lines] if isinstance(lines, str) else lines
        top = y + height / 2 - (len(lines) - 1) * 9 + 5
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + number * 18, line, size=14 if number == 0 else 12, color="ink" if number == 0 else "soft",
                      weight=600 if number == 0 else 400, mono=mono and number == 0)

    def arrow(self, points, color="line", dashed=False, label=None, at=None, anchor="middle"):
        path = " ".join(f"{'M' if number == 0 else 'L'}{x} {y}" for number, (x, y) in enumerate(points))
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<path d="{path}" fill="none" stroke="{self.c[color]}" stroke-width="1.6"{dash} marker-end="url(#{color})"/>')
        if label:
            self.text(at[0], at[1], label, size=12, color="soft" if color == "line" else color, anchor=anchor)

    def svg(self):
        heads = "".join(
            f'<marker id="{color}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse">'
            f'<path d="M0 0L10 5L0 10z" fill="{self.c[color]}"/></marker>' for color in ("line", "blue", "green", "red"))
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" height="{self.height}" role="img" '
                f'aria-labelledby="title description" font-family="{FONT}">\n<title id="title">{escape(self.title)}</title>\n'
                f'<desc id="description">{escape(self.description)}</desc>\n<defs>{heads}</defs>\n'
                f'<rect width="{WIDTH}" height="{self.height}" rx="12" fill="{self.c["paper"]}"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def chain(colors):
    d = Drawing("How a chain runs", "A request goes through the interceptors in order to the transport; the response comes back in reverse order. An "
                "interceptor may answer itself.", 300, colors)
    d.text(20, 32, "The request goes out in the order you write", anchor="start", size=15, weight=600)
    columns = [("URLSession", "your app", ""), ("Interceptor A", "first in the list", "blue"), ("Interceptor B", "second", "blue"),
               ("Transport", "libcurl, URLSession", "")]
    for number, (name, about, kind) in enumerate(columns):
        d.box(20 + number * 178, 80, 146, 110, [name, about], kind)
    for number in range(3):
        left = 166 + number * 178
        d.arrow([(left, 112), (left + 32, 112)], "blue")
        d.arrow([(left + 32, 160), (left, 160)], "green")
    d.text(182, 68, "request", size=12, color="blue")
    d.text(360, 68, "next(request)", size=12, color="blue", mono=True)
    d.text(538, 68, "next(request)", size=12, color="blue", mono=True)
    d.text(182, 210, "response", size=12, color="green")
    d.text(360, 210, "response", size=12, color="green")
    d.text(538, 210, "response", size=12, color="green")
    d.arrow([(449, 190), (449, 240), (110, 240), (110, 192)], "green", dashed=True)
    d.text(280, 260, "B answers itself: it does not call next, and nothing is sent", size=12, color="soft")
    d.text(20, 286, "… and the response comes back in reverse order.", anchor="start", size=13, color="soft")
    return d


def archive(colors):
    d = Drawing("Four ways home", "An archive answers from what is stored while that is fresh, asks the origin whether it still holds, loads it anew, or "
                "answers from what is stored although it is stale.", 350, colors)
    d.box(265, 20, 190, 50, ["request", "looked up by its key"])
    for number, (title, when, result, kind) in enumerate([
            ("fresh", "stored, still fresh", "answered at once", "green"), ("validated", "stored, stale", "origin says 304", "blue"),
            ("loaded", "nothing stored", "origin answers", "blue"), ("stale", "origin not reached", "old response, said so", "red")]):
        x = 16 + number * 176
        d.arrow([(360, 70), (360, 96), (x + 80, 96), (x + 80, 122)])
        d.text(x + 80, 142, when, size=12, color="soft")
        d.box(x, 154, 160, 60, [title, result], kind)
        d.arrow([(x + 80, 214), (x + 80, 262)], "green")
    d.text(282, 242, "store updated", size=12, color="soft", anchor="start")
    d.text(458, 242, "stored", size=12, color="soft", anchor="start")
    d.box(16, 264, 688, 44, ["response to the app"])
    d.text(360, 334, "Mode .offline takes the first and the last way alone; what is not stored is an error.", size=12, color="soft")
    return d


def race(colors):
    d = Drawing("A race of addresses", "Addresses are dialled one after the other with a short head start. The first that proves its certificate sends the "
                "request; the others are closed without a byte sent.", 320, colors)
    d.text(20, 32, "Each address gets a head start; the first to prove its certificate sends", anchor="start", size=15, weight=600)
    d.text(150, 62, "time", size=12, color="soft", anchor="start")
    d.arrow([(184, 58), (700, 58)])
    rows = [("203.0.113.7", 150, 300, "refused", "red"), ("203.0.113.8", 220, 350, "wrong certificate: not a byte sent", "red"),
            ("203.0.113.9", 290, 250, "TLS verified: sends the request", "green"), ("2001:db8::7", 360, 150, "closed, nothing sent", "line")]
    for number, (address, start, width, outcome, color) in enumerate(rows):
        y = 84 + number * 52
        d.text(20, y + 22, address, anchor="start", mono=True, size=13)
        kind = {"red": "red", "green": "green", "line": ""}[color]
        fill, stroke = (d.c[kind + "Box"], d.c[kind]) if kind else (d.c["box"], d.c["line"])
        d.parts.append(f'<rect x="{start}" y="{y}" width="{width}" height="34" rx="8" fill="{fill}" stroke="{stroke}"/>')
        d.text(start + 12, y + 22, outcome, anchor="start", size=13, color="ink")
    d.text(20, 306, "Failed addresses are tried last for a while.", anchor="start", size=12, color="soft")
    return d


def platforms(colors):
    d = Drawing("Linux and Apple", "On both platforms a session leads through the registry. On Linux the default transport is CurlTransport, on Apple platforms an "
                "inner URLSession.", 330, colors)
    for x, name, rows in [
            (20, "Linux", [("URLSession", "FoundationNetworking"), ("your chains", "the same code"), ("CurlTransport", "libcurl, already loaded")]),
            (380, "Apple platforms", [("URLSession", "the system's"), ("your chains", "the same code"), ("URLSessionTransport", "one inner session")])]:
        d.text(x + 160, 32, name, size=15, weight=600)
        for number, (title, about) in enumerate(rows):
            d.box(x, 48 + number * 70, 320, 50, [title, about], "blue" if number == 1 else "")
            if number < 2:
                d.arrow([(x + 160, 98 + number * 70), (x + 160, 118 + number * 70)])
    for x, lines in [(20, ["+ routes, back pressure to the server, metrics", "+ private authorities; each TLS failure told apart", "tested, fuzzed, under sanitizers"]),
                     (380, ["+ system proxies, client certificates by delegate", "− no routes: refused, or left to the system", "type-checked, run against a model"])]:
        for number, line in enumerate(lines):
            d.text(x + 160, 262 + number * 22, line, size=12, color="ink" if number < 2 else "soft")
    return d


def mock(colors):
    d = Drawing("A mock's life", "A test begins a scope with stubs of its own; requests are matched against them; at the end unused stubs and unmatched requests are "
                "reported and everything is freed.", 330, colors)
    d.box(20, 40, 200, 60, ["test begins", "scope, stubs, session"], "blue")
    d.box(260, 40, 200, 60, ["request", "URLSession.mocked"])
    d.box(500, 40, 200, 60, ["stubs compared", "newest first"], "blue")
    d.arrow([(220, 70), (258, 70)])
    d.arrow([(460, 70), (498, 70)])
    d.box(260, 150, 200, 60, ["a stub matches", "its response, counted"], "green")
    d.box(500, 150, 200, 60, ["none matches", "test fails, closest named"], "red")
    d.arrow([(560, 100), (560, 124), (400, 124), (400, 148)], "green")
    d.arrow([(620, 100), (620, 148)], "red")
    d.box(20, 150, 200, 60, ["app goes on", "the next request"])
    d.arrow([(260, 180), (222, 180)])
    d.arrow([(120, 150), (120, 126), (320, 126), (320, 102)], dashed=True)
    d.box(20, 252, 680, 48, ["test ends: unused stubs are reported, all is freed"])
    d.arrow([(120, 210), (120, 250)])
    d.arrow([(600, 210), (600, 250)], "red")
    return d


def order(colors):
    d = Drawing("The order of interceptors", "From the app outwards: inspector, retry, token, archive, host rewriter, transport. A mock stands last in place of the network.", 380, colors)
    d.text(20, 32, "An order that works: first in the list is nearest to the app", anchor="start", size=15, weight=600)
    rows = [("Inspector", "sees what the app sees"), ("Retry", "repeats all that follows"), ("Token", "says whose request it is"),
            ("ArchiveCache", "behind the token: stores per user"), ("HostRewriter", "only what has to leave is routed"), ("MockInterceptor", "last: answers in place of the network")]
    for number, (name, why) in enumerate(rows):
        y = 52 + number * 52
        d.box(20, y, 200, 38, name, "blue")
        d.text(240, y + 24, why, anchor="start", size=14, color="ink")
        if number < 5:
            d.arrow([(120, y + 38), (120, y + 51)])
    d.text(20, 370, "Tests take the mock alone, or with the interceptors they test.", anchor="start", size=12, color="soft")
    return d


def main():
    stale = []
    for name, draw in dict(chain=chain, archive=archive, race=race, platforms=platforms, mock=mock, order=order).items():
        for suffix, colors in (("", LIGHT), ("~dark", DARK)):
            file, svg = OUT / f"{name}{suffix}.svg", draw(colors).svg()
            if sys.argv[1:] == ["--check"]:
                if not file.exists() or file.read_text(encoding="utf-8") != svg:
                    stale.append(file.name)
            else:
                file.write_text(svg, encoding="utf-8")
    if stale:
        sys.exit(f"not what Scripts/diagrams.py draws: {', '.join(stale)}")


main()
