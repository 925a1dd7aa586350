#!/usr/bin/env python3
"""Puts mistakes into the Apple half, and shows that the model finds each: python3 Tests/AppleModel/mutants.py [NAME…]

One build has them all, each behind a switch; `apple-model` then runs once with none, which must find nothing, and once with each. The sources are
put back after the build. Run by Scripts/nightly.sh.
"""
import os, shutil, subprocess, sys, tempfile, time

CORE = "Sources/WaylayCore/"
CLIENT = CORE + "Platform/Apple/PlatformClient+Apple.swift"
SENDING = CORE + "Platform/Apple/PlatformExchange+Apple.swift"
SYSTEM = CORE + "Platform/Apple/LoadingSystem+Apple.swift"
SESSION = CORE + "Transport/URLSessionTransport.swift"
BODY = CORE + "Interface/MessageBody.swift"
RELAY = CORE + "Loading/ClientRelay.swift"
SEAM = "Tests/AppleModel/Core/Seam/ModelSeam.swift"

# A place, and what stands there instead; MISTAKEN is whether this mistake is the one that is made.
MISTAKES = {
    # What the Apple half does itself.
    "every body is dropped": (CLIENT, "      return body\n    }\n\n    // `Task.immediate`", "      return MISTAKEN ? .empty : body\n    }\n\n    // `Task.immediate`"),
    "a body is not collected": (CLIENT, "length <= Self.longestInMemory", "length <= (MISTAKEN ? -1 : Self.longestInMemory)"),
    "a redirect goes on with a consumed stream": (CLIENT, "if let reader { throw", "if !MISTAKEN, let reader { throw"),
    "the lengths are not compared": (CLIENT, "guard data.count == length else", "guard MISTAKEN || data.count == length else"),
    "a failed stream is closed": (SENDING, "if !Task.isCancelled { exchange?.fail(error) }", "if MISTAKEN { writer.close() } else if !Task.isCancelled { exchange?.fail(error) }"),
    "a body is never sent again": (SENDING, "if body.isReplayable { return openStream", "if !MISTAKEN, body.isReplayable { return openStream"),
    "a suspension for each chunk": (SESSION, "guard !state.withLock({ $0.isHeld }) else", "guard MISTAKEN || !state.withLock({ $0.isHeld }) else"),
    "a task is never resumed": (SESSION, "exchange(&$0.isHeld, with: false) ? $0.task : nil", "exchange(&$0.isHeld, with: false) && !MISTAKEN ? $0.task : nil"),
    "thinking is taken for refusing": (CLIENT, "try await hold.released.valueUnlessCancelled()", "if !MISTAKEN { try await hold.released.valueUnlessCancelled() }"),
    "a request that is kept is waited for without end": (CLIENT, "for _ in 0..<limit {", "for _ in 0..<(MISTAKEN ? Int.max : limit) {"),
    "a request that is kept is waited for until its task times out": (CLIENT, "min(30, timeout / 2)", "MISTAKEN ? timeout : min(30, timeout / 2)"),
    "a hold is no property list": (SYSTEM, "[Self.key: data]", "[Self.key: MISTAKEN ? NSObject() : data]"),
    "a request of the app's own begins another load": (SYSTEM, "trail.owner === owner else", "trail.owner === owner, !MISTAKEN else"),
    "a body of unknown length is not looked at": (CLIENT, "body.inMemory == nil, body.length == nil, let stream", "!MISTAKEN, body.inMemory == nil, body.length == nil, let stream"),
    "the beginning of a long stream is lost": (BODY, "self.ahead = bytes.isEmpty ? nil : bytes", "self.ahead = bytes.isEmpty || MISTAKEN ? nil : bytes"),
    "an intercepted configuration keeps a deaf loader": (CLIENT, "{ configuration.useClassicLoader() }", "{ if !MISTAKEN { configuration.useClassicLoader() } }"),
    "a redirect fails at once": (RELAY, "      try await redirect.untilRefused()\n", "      if MISTAKEN { throw CocoaError(.userCancelled) }\n      try await redirect.untilRefused()\n"),
    "the redirect's response comes too early": (RELAY, "try await redirect.untilRefused()", "if !MISTAKEN { try await redirect.untilRefused() }"),
    # What it does with Darwin.swift, which has a twin in the model.
    "the client is called on any thread": (CLIENT, "thread.perform(work)", "if MISTAKEN { DispatchQueue.global().async(execute: work) } else { thread.perform(work) }"),
    "the app hears of a challenge inside stopLoading": (CLIENT, "close(isTelling: false)", "close(isTelling: MISTAKEN)"),
    "stopLoading is not noted": (CLIENT, "stopped.withLock { $0 = true }", "if !MISTAKEN { stopped.withLock { $0 = true } }"),
    "hops are not counted": (SYSTEM, "[hopKey: hop,", "[hopKey: MISTAKEN ? 0 : hop,"),
    "a load loses its id": (SYSTEM, "      if let owner {", "      if MISTAKEN { properties[idKey] = nil }\n      if let owner {"),
    "the length of the task is not asked for": (CLIENT, " ?? expectedBodyLength", " ?? (MISTAKEN ? nil : expectedBodyLength)"),
    "the redirected request has no length": (CLIENT, 'request.setValue("\\(length)", forHTTPHeaderField: "Content-Length")', 'if !MISTAKEN { request.setValue("\\(length)", forHTTPHeaderField: "Content-Length") }'),
    "challenges are not withdrawn": (SENDING, "if isTelling { client.withdraw", "if isTelling, !MISTAKEN { client.withdraw"),
    "two challenges at once": (SENDING, "guard !isClosed, outstanding == nil,", "guard !isClosed, MISTAKEN || outstanding == nil,"),
    "a stream's writer is let go": (SENDING, "Sending(pump: pump, writer: writer)", "Sending(pump: pump, writer: MISTAKEN ? nil : writer)"),
}
SWITCH = """
func isMistaken(_ number: Int) -> Bool { number == chosenMistake }
private let chosenMistake = ProcessInfo.processInfo.environment["WAYLAY_MISTAKE"].flatMap { Int($0) } ?? -1
"""


def build(binary):
    """Builds the model with all mistakes in it."""
    sources = {path: open(path, encoding="utf-8").read() for path in {m[0] for m in MISTAKES.values()} | {SEAM}}
    wrong = dict(sources)
    for number, (name, (path, before, after)) in enumerate(MISTAKES.items()):
        if wrong[path].count(before) != 1:
            sys.exit(f"✘ {name}: cannot be put into {path}: mend Tests/AppleModel/mutants.py")
        wrong[path] = wrong[path].replace(before, after.replace("MISTAKEN", f"isMistaken({number})"))
    wrong[SEAM] += SWITCH
    try:
        for path, text in wrong.items():
            open(path, "w", encoding="utf-8").write(text)
        subprocess.run(["swift", "build", "--enable-all-traits", "--product", "apple-model"], check=True)
        shutil.copy(".build/debug/apple-model", binary)
    finally:
        for path, text in sources.items():
            open(path, "w", encoding="utf-8").write(text)


def run(binary, number, seconds):
    """What is wrong with a run; nothing when all was well."""
    environment = {**os.environ, "WAYLAY_MISTAKE": str(number)}
    try:
        model = subprocess.run([binary, "--loads", "3000"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "never ends"
    lines = model.stdout.strip().split("\n") + [""]
    # Which load it was and what it was to do comes first.
    return (lines[1].rsplit("): ", 1)[-1][:120] or f"exit {model.returncode}") if model.returncode else ""


os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
# Warnings are no errors here: a mistake may leave something unused.
os.environ.pop("WAYLAY_STRICT", None)
chosen = sys.argv[1:] or list(MISTAKES)
missed = 0
with tempfile.TemporaryDirectory() as folder:
    binary = os.path.join(folder, "apple-model")
    build(binary)
    start = time.monotonic()
    failure = run(binary, -1, 600)
    if failure:
        sys.exit(f"✘ without a mistake: {failure}")
    # A load that never ends is a failure as well.
    limit = max(60, 10 * (time.monotonic() - start))
    for name in chosen:
        failure = run(binary, list(MISTAKES).index(name), limit)
        missed += not failure
        print(f"✔ {name}: {failure}" if failure else f"✘ {name}: NOT FOUND", flush=True)
print(f"{len(chosen) - missed} of {len(chosen)} mistakes found")
sys.exit(1 if missed else 0)
