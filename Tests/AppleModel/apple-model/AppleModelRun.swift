import ArgumentParser

#if !canImport(Darwin)
  import AppleModel
#endif

/// Runs the Apple half against the model of Apple's loading system: `swift run --sanitize=thread apple-model --loads
/// 10000`.
@main
struct AppleModelRun: AsyncParsableCommand {
  @Option(help: "How many loads.")
  var loads = 10_000

  @Option(help: "The seed of all that is random.")
  var seed: UInt64 = 1

  func run() async throws {
    #if !canImport(Darwin)
      let report = await ModelRun(loads: loads, seed: seed)()
      print(
        "seed \(seed): \(report.loads) loads, \(report.cancelled) cancelled, \(report.redirects) redirects, "
          + "\(report.challenges) challenges, \(report.suspended) suspended, \(report.uploads) uploads, "
          + "\(report.heldBack) held back, \(report.failures.count) failures")
      for failure in report.failures.prefix(20) { print(failure) }
      if !report.failures.isEmpty { throw ExitCode.failure }
    #endif
  }
}
