#!/usr/bin/env bash
# Runs the C shim round libcurl under valgrind: no invalid access, nothing lost. Needs clang (Swift brings it along), valgrind and python3; Linux only.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
clang -std=c11 -Wall -Wextra -Werror -gdwarf-4 -I Sources/CWaylayCurl/include Sources/CWaylayCurl/CWaylayCurl.c Tests/CWaylayCurlTests/main.c \
  -o "$work/shim" -ldl -lpthread
echo hello >"$work/hello"
python3 -u -m http.server --bind 127.0.0.1 --directory "$work" 0 >"$work/log" 2>&1 &
server=$!
for _ in $(seq 100); do
  port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$work/log")
  [ -n "$port" ] && break
  sleep 0.1
done
valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect --error-exitcode=1 \
  "$work/shim" "http://127.0.0.1:$port/hello"
