#!/usr/bin/env bash
# The pictures of the Inspector's page in the README and the guide: the page of today, around exchanges that never change, in a browser without a
# window.
#
#   Scripts/screenshots.sh            writes Documentation.docc/inspector.png and inspector~dark.png
#   Scripts/screenshots.sh FOLDER     writes them there, and more at the widths of a phone and of a screen, for somebody to look at
#   Scripts/screenshots.sh --check    fails when a picture cannot be made, or has other dimensions than the stored one
#
# Letters differ from machine to machine: dimensions are compared, no pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo "Not made: there is no Chromium."; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 - >"$work/exchanges.har" <<'PYTHON'
import json

START = "2026-05-04T09:30:%06.3fZ"
# When it began, how long it took in milliseconds, method, URL, status, media type, size, source, error
EXCHANGES = [
    (0.00, 182, "GET", "https://api.example.com/v2/session", 200, "application/json", 412, "network", ""),
    (0.21, 96, "GET", "https://api.example.com/v2/articles?page=1&per=20", 200, "application/json", 18_432, "network", ""),
    (0.24, 2, "GET", "https://api.example.com/v2/feature-flags", 200, "application/json", 640, "mocked", ""),
    (0.33, 4, "GET", "https://images.example.net/covers/8841.avif", 200, "image/avif", 48_102, "archive", ""),
    (0.33, 141, "GET", "https://images.example.net/covers/8842.avif", 200, "image/avif", 51_377, "network", ""),
    (0.35, 120, "GET", "https://images.example.net/covers/8843.avif", 304, "", 0, "network", ""),
    (0.52, 64, "GET", "https://api.example.com/v2/articles/8841/comments", 404, "application/json", 87, "network", ""),
    (0.60, 233, "POST", "https://api.example.com/v2/reading-list", 201, "application/json", 356, "network", ""),
    (0.71, 1210, "GET", "https://search.example.org/suggest?q=interceptors", 503, "text/plain", 31, "network", ""),
    (0.90, 310, "GET", "https://telemetry.example.org/ping", 0, "", -1, "network",
     "URLError.secureConnectionFailed (-1200): the certificate is not valid for this host."),
    (1.02, 75, "GET", "https://api.example.com/v2/profile", 200, "application/json", 1_204, "network", ""),
    (1.15, 58, "PUT", "https://api.example.com/v2/profile/avatar", 204, "", 0, "network", ""),
    (1.21, 44, "GET", "https://images.example.net/avatars/17.webp", 200, "image/webp", 9_870, "network", ""),
    (1.24, 1, "GET", "https://fonts.example.net/inter/variable.woff2", 200, "font/woff2", 112_640, "archive", ""),
    (1.38, 203, "GET", "https://api.example.com/v2/articles?page=2&per=20", 200, "application/json", 17_911, "network", ""),
    (1.52, 39, "DELETE", "https://api.example.com/v2/reading-list/702", 204, "", 0, "network", ""),
    (1.60, 812, "GET", "https://audio.example.net/episodes/118.m4a", 206, "audio/mp4", 2_097_152, "network", ""),
    (1.71, 88, "GET", "https://api.example.com/v2/recommendations?for=8841", 200, "application/json", 5_310, "network", ""),
]
ANSWER = {"id": 731, "article": 8841, "title": "Ordered interceptors", "tags": ["swift", "http"], "read": False,
          "added": "2026-05-04T09:30:00Z", "notes": None}


def entry(number, exchange):
    began, time, method, url, status, kind, size, source, error = exchange
    fields = [("Accept", "application/json"), ("Authorization", "REDACTED"), ("User-Agent", "Reader/4.1")]
    request = {"method": method, "url": url, "httpVersion": "HTTP/2", "headers": [{"name": n, "value": v} for n, v in fields],
               "queryString": [], "cookies": [], "headersSize": -1, "bodySize": -1}
    content = {"size": size, "mimeType": kind}
    if method == "POST":
        request["postData"] = {"mimeType": "application/json", "text": json.dumps({"article": 8841})}
        content["text"] = json.dumps(ANSWER)
    answered = [("Content-Type", kind), ("Content-Length", str(size)), ("Cache-Control", "private, max-age=60")] if kind else []
    response = {"status": status, "statusText": "", "httpVersion": "HTTP/2", "headers": [{"name": n, "value": v} for n, v in answered],
                "cookies": [], "content": content, "redirectURL": "", "headersSize": -1, "bodySize": size}
    new = source == "network" and number in (1, 5, 9)
    timings = {"blocked": 1, "dns": time * 0.08 if new else -1, "connect": time * 0.3 if new else -1, "ssl": time * 0.2 if new else -1,
               "send": 0.4, "wait": time * (0.45 if new else 0.8), "receive": time * 0.15}
    made = {"startedDateTime": START % began, "time": time, "request": request, "response": response, "cache": {}, "timings": timings,
            "_id": str(number), "_source": source, "_state": "failed" if error else "finished"}
    return made | ({"_error": error} if error else {})


print(json.dumps({"log": {"version": "1.2", "creator": {"name": "Waylay", "version": "0.1.0"},
                          "entries": [entry(number, exchange) for number, exchange in enumerate(EXCHANGES, 1)]}}))
PYTHON
Scripts/page.sh --try "$work/exchanges.har" "$work/page.html"

# `shoot FILE WIDTH HEIGHT FRAGMENT`
shoot() {
  "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --force-device-scale-factor=1 \
    --virtual-time-budget=5000 --window-size="$2,$3" --screenshot="$1" "file://$work/page.html#$4" >"$work/log" 2>&1 && [ -s "$1" ] ||
    { cat "$work/log"; echo "$1 could not be made" >&2; exit 1; }
}

# Width and height of a picture: the eight bytes behind the first sixteen.
size_of() { od -An -tx1 -j16 -N8 "$1" | tr -d ' \n'; }

stored=Documentation.docc
case "${1:-}" in
"") out=$stored ;;
--check) out=$work/pictures ;;
*) out=$1 ;;
esac
mkdir -p "$out"
shoot "$out/inspector.png" 1240 700 "open=8&tab=response&theme=light"
shoot "$out/inspector~dark.png" 1240 700 "open=8&tab=response&theme=dark"
case "${1:-}" in
"") ;;
--check)
  for name in inspector.png inspector~dark.png; do
    [ "$(size_of "$out/$name")" = "$(size_of "$stored/$name")" ] ||
      { echo "$stored/$name has other dimensions than the page of today: run Scripts/screenshots.sh"; exit 1; }
  done
  ;;
*)
  for theme in light dark; do
    shoot "$out/phone-$theme.png" 360 740 "theme=$theme"
    shoot "$out/phone-$theme-detail.png" 360 740 "open=8&tab=response&theme=$theme"
    shoot "$out/phone-$theme-mistake.png" 360 740 "theme=$theme&q=stauts:4xx"
    shoot "$out/wide-$theme.png" 1280 800 "theme=$theme"
  done
  ;;
esac
