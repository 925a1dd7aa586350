#!/usr/bin/env python3
"""Puts one mistake after another into the Apple half, and shows that the model finds each: python3 Tests/AppleModel/mutants.py [NAME…]

Each builds `apple-model` and runs it; the sources are put back at the end. Run by Scripts/nightly.sh: half an hour and more.
"""
import os, subprocess, sys

CORE = "Sources/WaylayCore/"
CLIENT = CORE + "Platform/Apple/PlatformClient+Apple.swift"
SENDING = CORE + "Platform/Apple/PlatformExchange+Apple.swift"
SYSTEM = CORE + "Platform/Apple/LoadingSystem+Apple.swift"
SESSION = CORE + "Transport/URLSessionTransport.swift"
RELAY = CORE + "Loading/ClientRelay.swift"

# What the Apple half does itself.
APPLE = {
    "every body is dropped": (CLIENT, "      return body\n    }\n\n    // `Task.immediate`", "      return .empty\n    }\n\n    // `Task.immediate`"),
    "a body is not collected": (CLIENT, "length <= Self.longestInMemory", "length < 0"),
    "a redirect goes on with a consumed stream": (CLIENT, "if let reader = body.consumedBy {", "if let reader = body.consumedBy, reader.isEmpty {"),
    "the lengths are not compared": (CLIENT, "guard data.count == length else", "guard data.count >= 0 else"),
    "a failed stream is closed": (SENDING, "if !Task.isCancelled { exchange?.fail(error) }", "writer.close()"),
    "a body is never sent again": (SENDING, "if body.isReplayable { return openStream(for: exchange) }", "if body.isEmpty { return nil }"),
    "a suspension for each chunk": (SESSION, "    guard !state.withLock({ $0.isHeld }) else { return }\n", ""),
    "a task is never resumed": (SESSION, "      return state.isHeld ? state.task : nil", "      return nil"),
    "a redirect fails at once": (RELAY, "      try await redirect.untilRefused()\n", "      throw CocoaError(.userCancelled)\n"),
    "the redirect's response comes too early": (RELAY, "      try await redirect.untilRefused()\n", ""),
}
# What they do with Darwin.swift, which has a twin in the model.
USERS = {
    "the client is called on any thread": (CLIENT, "      thread.perform(work)", "      DispatchQueue.global().async(execute: work)"),
    "the app hears of a challenge inside stopLoading": (CLIENT, "questions?.close(isTelling: false)", "questions?.close(isTelling: true)"),
    "stopLoading is not noted": (CLIENT, "      stopped.withLock { $0 = true }\n", ""),
    "hops are not counted": (SYSTEM, "[hopKey: hop, idKey", "[hopKey: 0, idKey"),
    "a load loses its id": (SYSTEM, "idKey: id.number,", "idKey: nil,"),
    "the length of the task is not asked for": (CLIENT, " ?? expectedBodyLength", ""),
    "the redirected request has no length": (CLIENT, 'request.setValue("\\(length)", forHTTPHeaderField: "Content-Length")', "_ = length"),
    "challenges are not withdrawn": (SENDING, "if isTelling { client.withdraw(challenge) }", ""),
    "two challenges at once": (SENDING, "guard !isClosed, outstanding == nil, !waiting.isEmpty", "guard !isClosed, !waiting.isEmpty"),
    "a stream's writer is let go": (SENDING, "Sending(pump: pump, writer: writer)", "Sending(pump: pump, writer: nil)"),
}


def run(command, seconds):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


def found(name, path, before, after):
    original = open(path, encoding="utf-8").read()
    if original.count(before) != 1:
        return f"✘ {name}: cannot be put into {path}: mend Tests/AppleModel/mutants.py"
    try:
        open(path, "w", encoding="utf-8").write(original.replace(before, after))
        # Warnings are no errors here: a mistake may leave something unused.
        build = run(["swift", "build", "--enable-all-traits", "--product", "apple-model"], 3600)
        if build is None or build.returncode:
            print(build.stdout[-2000:] if build else "", flush=True)
            return f"✘ {name}: does not compile"
        # A load that never ends is a failure as well.
        model = run([".build/debug/apple-model", "--loads", "3000"], 300)
        if model is not None and model.returncode == 0:
            return f"✘ {name}: NOT FOUND"
        return f"✔ {name}: " + ("never ends" if model is None else (model.stdout.strip().split("\n") + [""])[1][:150] or f"exit {model.returncode}")
    finally:
        open(path, "w", encoding="utf-8").write(original)


os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
os.environ.pop("WAYLAY_STRICT", None)
mutants = {**APPLE, **USERS}
results = []
for name in sys.argv[1:] or mutants:
    results.append(found(name, *mutants[name]))
    print(results[-1], flush=True)
missed = [r for r in results if r.startswith("✘")]
print(f"{len(results) - len(missed)} of {len(results)} mistakes found")
sys.exit(1 if missed else 0)
