#!/usr/bin/env bash
# Which files a request enters on its way out, on Linux and with the default transport: runs `walk` in a debugger that stops at every function of
# WaylayCore during the third request, and writes the road into CONTRIBUTING.md. Functions without behaviour (initializers, accessors, closures) and
# the rooms Interface and Support are left out. Needs gdb and binutils.
#
#   Scripts/walk.sh           after swift build --enable-all-traits: writes it
#   Scripts/walk.sh --check   fails when it is not what CONTRIBUTING.md says
set -euo pipefail
cd "$(dirname "$0")/.."
WALK_PROGRAM=$(readlink -f .build/debug/walk)
[ -x "$WALK_PROGRAM" ] || { echo "run swift build --enable-all-traits first" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WALK_PROGRAM WALK_OUT=$work/road
cat >"$work/walk.py" <<'PYTHON'
import gdb, os, re, subprocess, textwrap

program = os.environ["WALK_PROGRAM"]
def lines(command, text=""): return subprocess.run(command, input=text, capture_output=True, text=True).stdout.splitlines()
symbols = [line.split() for line in lines(["nm", program])]
start = next(int(s[0], 16) for s in symbols if len(s) == 3 and "roadBegins" in s[2] and s[2].endswith("LLyyF"))
symbols = [(s[0], s[2]) for s in symbols if len(s) == 3 and s[1] in "tT" and re.match(r"\$s\d*[A-Za-z]*Waylay|\$s\d+Waylay", s[2])]
names = lines(["swift", "demangle", "--compact"], "\n".join(s[1] for s in symbols) + "\n")
places = lines(["addr2line", "-e", program], "\n".join(s[0] for s in symbols) + "\n")
passive = re.compile(
    r"closure #|getter|setter|modify|\bread\b|thunk|default argument|resume partial|outlined|metadata|witness|merged|\binit\(|allocating_init|Addressor"
    r"|deinit|deallocating|subscript|\$defer|variable init|one-time|key path|lazy |dispatch |async function pointer|specialized|\.init")
stops = []
for (address, _), name, place in zip(symbols, names, places):
    file = place.rsplit(":", 1)[0].rsplit("/Sources/", 1)[-1]
    if not file.startswith("WaylayCore/") or "/Support/" in file or "/Interface/" in file or passive.search(name) or "(" not in name: continue
    stops.append((int(address, 16), file.removeprefix("WaylayCore/").removesuffix(".swift")))

for setting in ("set pagination off", "handle SIGPIPE nostop noprint", "set debuginfod enabled off", "set complaints 0"): gdb.execute(setting)
gdb.execute("starti")
base = next(int(line.split("-")[0], 16) for line in open(f"/proc/{gdb.selected_inferior().pid}/maps") if line.rstrip().endswith(program))
offset = base if start < base else 0
entered = {}
class Stop(gdb.Breakpoint):
    def __init__(self, address, file):
        super().__init__("*0x%x" % (address + offset), internal=True)
        self.silent, self.file = True, file
    def stop(self):
        thread = gdb.selected_thread()
        road = entered.setdefault((thread.name == "waylay-curl", thread.num), [])
        if not road or road[-1] != self.file: road.append(self.file)
        return False
begin = gdb.Breakpoint("*0x%x" % (start + offset)); begin.silent = True
gdb.execute("continue")
begin.delete()
for address, file in stops: Stop(address, file)
# It ends where libcurl sends the request: what the loop does after that, before the response comes, differs.
class Sent(gdb.Breakpoint):
    def stop(self): return gdb.selected_thread().name == "waylay-curl"
Sent("send").silent = True
gdb.execute("continue")

# The threads one after the other, in the order in which the request comes to them: the debugger wakes the loop's before that.
road = []
for _, files in sorted(entered.items(), key=lambda thread: thread[0][0]): road += files if not road or road[-1] != files[0] else files[1:]
seen, shown, room, returns = set(), [], None, 0
for file in road:
    folder, name = file.rsplit("/", 1)
    returns += file in seen
    shown.append(("↩" if file in seen else "") + f"`{name if folder == room else file}`")
    room = folder; seen.add(file)
with open(os.environ["WALK_OUT"], "w") as out:
    out.write(textwrap.fill(f"{len(road)} visits, {len(seen)} files, {returns} returns: " + ", ".join(shown), 150, break_on_hyphens=False) + "\n")
gdb.execute("kill")
gdb.execute("quit")
PYTHON

road() {
  rm -f "$WALK_OUT"
  timeout 240 gdb -q -batch -x "$work/walk.py" --args "$WALK_PROGRAM" >"$work/log" 2>&1 || true
  [ -s "$WALK_OUT" ] || { tail -20 "$work/log" >&2; exit 1; }
}

written() { sed -n '/^<!-- walk -->$/,/^<!-- \/walk -->$/p' CONTRIBUTING.md | sed '1d;$d'; }

if [ "${1:-}" = --check ]; then
  # Two threads may meet in another order: five walks are one chance each.
  for _ in 1 2 3 4 5; do
    road
    if diff <(written) "$WALK_OUT" >"$work/difference"; then
      echo "A request walks as CONTRIBUTING.md says: $(cut -d: -f1 "$WALK_OUT" | head -1)"
      exit
    fi
  done
  cat "$work/difference"
  echo "The walk in CONTRIBUTING.md is no longer true: run Scripts/walk.sh" >&2
  exit 1
fi
road
sed -i -e "/^<!-- walk -->\$/r $WALK_OUT" -e '/^<!-- walk -->$/,/^<!-- \/walk -->$/{/^<!--/!d}' CONTRIBUTING.md
cat "$WALK_OUT"
