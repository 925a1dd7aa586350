import Foundation

extension URLRequest {
  /// Whether two requests are the same storage. `false` says nothing; `true` says they are equal without looking at them.
  func isIdentical(to other: URLRequest) -> Bool {
    withUnsafeBytes(of: self) { ours in withUnsafeBytes(of: other) { ours.elementsEqual($0) } }
  }
}
