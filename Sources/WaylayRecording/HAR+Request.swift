import Foundation
package import WaylayCore
package import WaylayHAR

// The one place where messages on their way through a chain become those of an HTTP archive, and back. It redacts
// nothing: whoever keeps what is made here redacts it before.

/// The bytes of a body as somebody has seen them pass: the beginning, and how many there were.
package struct SeenBody: Sendable {
  /// The first bytes, or all of them.
  package var data: Data
  /// How many there were in all.
  package var size: Int

  /// Makes a body of which all is there, or, with a size, the beginning.
  package init(_ data: Data = Data(), size: Int? = nil) {
    self.data = data
    self.size = max(size ?? 0, data.count)
  }

  func body(of fields: HTTPFields) -> HAR.Body { HAR.Body(data, mediaType: fields[.contentType] ?? "", size: size) }
}

extension HAR.Request {
  /// A request, as an archive has it.
  ///
  /// - Parameters:
  ///   - request: The request. Its body is not read.
  ///   - body: What of its body has been seen; `nil` for the bytes that are in memory, or nothing.
  ///   - metrics: What a transport has measured, for the version.
  package init(_ request: InterceptedRequest, body: SeenBody? = nil, metrics: LoadMetrics? = nil) {
    let seen =
      body ?? request.body.inMemory.map { SeenBody($0) } ?? SeenBody(size: request.body.length.map(Int.init(clamping:)))
    self.init(
      method: request.method.rawValue, url: request.url.absoluteString, httpVersion: metrics?.httpVersion ?? "HTTP/1.1",
      headers: HAR.Field.all(request.fields), body: seen.size == 0 ? nil : seen.body(of: request.fields))
    bodySize = seen.size
  }
}

extension HAR.Field {
  /// The fields of a message in their order.
  package static func all(_ fields: HTTPFields) -> [HAR.Field] { fields.map { HAR.Field($0.name.rawName, $0.value) } }
}

extension LoadMetrics {
  /// The version, as browsers write it into archives.
  var httpVersion: String? {
    switch protocolName {
    case nil, "": nil
    case "http/1.0": "HTTP/1.0"
    case "http/1.1": "HTTP/1.1"
    case "h2", "h2c": "HTTP/2"
    case "h3": "HTTP/3"
    case let name: name
    }
  }

  /// The address that was dialled, without its port.
  package var host: String? {
    guard let address, let colon = address.lastIndex(of: ":") else { return address }
    // More than one colon, and no brackets: an IPv6 address alone.
    if !address.hasPrefix("["), address[..<colon].contains(":") { return address }
    return String(address[..<colon]).trimmingCharacters(in: ["[", "]"])
  }
}
