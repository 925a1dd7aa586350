/// An open file or directory, closed when nobody holds it any more.
final class FileDescriptor: Sendable {
  let raw: Int32
  private let system: any SystemCalls

  init(_ raw: Int32, _ system: any SystemCalls) {
    self.raw = raw
    self.system = system
  }

  deinit {
    system.close(raw)
  }
}
