# Sourced by `Scripts/apple.sh`: the proof that it finds what it is for.

# Six known mistakes in a small file: six errors, each on its own line, and no other.
six_mistakes() {
  local floor=$1 log=$work/six.log expected found
  compile "$floor" -typecheck -module-name Mistakes "$standIns/KnownMistakes.swift" >"$log" 2>&1 || true
  expected=$(grep -n '// mistake' "$standIns/KnownMistakes.swift" | cut -d: -f1)
  found=$(sed -n 's/^[^ |]*KnownMistakes.swift:\([0-9]*\):[0-9]*: error: .*/\1/p' "$log" | sort -n)
  [ "$expected" = "$found" ] && [ "$(wc -w <<<"$found")" -eq 6 ] || {
    cat "$log"
    echo "✘ the six known mistakes did not give six errors: this check proves nothing" >&2
    return 1
  }
}

# Puts a mistake back into a copy of the core: `put_back FLOOR WHAT FILE SED-SCRIPT ERROR`. The core must not compile then, for that reason.
put_back() {
  local floor=$1 what=$2 file=$3 script=$4 error=$5 copy=$work/mistake
  rm -rf "$copy"
  mkdir -p "$copy"
  cp -R "$sources/WaylayCore" "$copy/WaylayCore"
  sed -i.bak -E "$script" "$copy/WaylayCore/$file"
  ! cmp -s "$copy/WaylayCore/$file" "$sources/WaylayCore/$file" || {
    echo "✘ $what could not be put back into $file: mend Tests/StandIns/Apple/mistakes.sh" >&2
    return 1
  }
  if check_module "$floor" WaylayCore "$copy/WaylayCore" >"$work/mistake.log" 2>&1 || ! grep -qE "error: .*$error" "$work/mistake.log"; then
    cat "$work/mistake.log"
    echo "✘ $what was put back into $file and not found" >&2
    return 1
  fi
}

# Methods of a delegate that nobody would call, and that compile because they are optional: a label of its own, a type of its own.
uncalled_methods() {
  local copy=$work/uncalled change
  command -v python3 >/dev/null || { echo "Not checked: there is no python3."; return 0; }
  "$standIns/delegates.py" "$standIns/Foundation" "$sources"
  mkdir -p "$copy"
  for change in 's/needNewBodyStream completionHandler/needsNewBodyStream completionHandler/' \
    's/didReceive response: URLResponse,/didReceive response: HTTPURLResponse,/'; do
    sed "$change" "$sources/WaylayCore/Transport/URLSessionTransport.swift" >"$copy/Transport.swift"
    ! "$standIns/delegates.py" "$standIns/Foundation" "$copy" >"$work/uncalled.log" || {
      echo "✘ a method that is in no delegate protocol was not found: mend Tests/StandIns/Apple/delegates.py" >&2
      return 1
    }
  done
}

known_mistakes() {
  local floor=$1
  six_mistakes "$floor"
  echo "✔ six known mistakes give six errors"
  put_back "$floor" "required init without override" Platform/Apple/Darwin.swift \
    '/^  class PlatformProtocol: URLProtocol/a\
    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {\
      super.init(request: request, cachedResponse: cachedResponse, client: client)\
    }' "requires an 'override' keyword"
  put_back "$floor" "a capture that is not Sendable" Platform/Apple/PlatformClient+Apple.swift \
    's/^    func schedule\(_ work: .*$/&\
      let foreign = loader.client\
      thread.perform { _ = foreign }/' "non-Sendable type"
  put_back "$floor" "an API newer than the floor" Platform/Apple/PlatformClient+Apple.swift \
    's/^      Task\(operation: work\)/      Task.immediate(operation: work)/' "is only available in"
  echo "✔ three mistakes put back into the core are found"
  uncalled_methods
  echo "✔ every method of a delegate is in its protocol, and two that are not are found"
}
