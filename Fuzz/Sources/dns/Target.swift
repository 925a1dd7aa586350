internal import Driver

@main
enum Target {
  static func main() { fuzz(test) }
}

/// One input.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  if bytes.count > 3, bytes[0] == 1, bytes[1] == 2, bytes[2] == 3 { fatalError() }
  return 0
}
