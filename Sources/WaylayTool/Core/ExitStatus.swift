/// How the program ends, for scripts.
enum ExitStatus: Int32 {
  /// Done.
  case done = 0
  /// What was asked for failed: a check found something, nothing matched.
  case failed = 1
  /// The network gave no answer.
  case network = 2
  /// Nothing is stored, or no stub is there, for a request that must not go to the network.
  case absent = 3
  /// A file, a folder or an archive cannot be used.
  case files = 4
  /// The command line makes no sense: `EX_USAGE`, as the argument parser has it.
  case usage = 64
}
