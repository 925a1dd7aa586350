import ArgumentParser

/// Many loads side by side, and what is wrong with what came of them.
@main
struct Stress: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stress",
    abstract: "Runs many loads side by side. Exits with 1 on a fault, or when nothing happens for a minute.",
    subcommands: [Mixture.self, Hostile.self], defaultSubcommand: Mixture.self)
}
