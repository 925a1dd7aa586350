/// libFuzzer's own entry: it makes inputs until one of them ends the process.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Gives input after input to a test, as the command line says (`-help=1`).
public func fuzz(_ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt) {
  let count = UnsafeMutablePointer<CInt>.allocate(capacity: 1)
  count.initialize(to: CommandLine.argc)
  let arguments = UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>.allocate(capacity: 1)
  arguments.initialize(to: CommandLine.unsafeArgv)
  _ = runDriver(count, arguments, test)
}

/// Ends the process with a message, which an optimised `precondition` would keep to itself, when something does not hold.
public func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError(message()) }
}
