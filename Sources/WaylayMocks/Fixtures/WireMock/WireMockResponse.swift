import Foundation
import HTTPTypes

/// The `response` of a mapping.
struct WireMockResponse {
  private let object: FixtureObject
  private let files: URL
  private let ignoring: Set<String>

  init(_ object: FixtureObject, files: URL, ignoring: Set<String>) {
    self.object = object
    self.files = files
    self.ignoring = ignoring
  }

  var response: MockResponse {
    var response = body()
    let status = object.integer("status") ?? 200
    response = response.status(status).checked(by: object, "status")
    if let message = object.string("statusMessage"), (200...999).contains(status) {
      response = response.status(HTTPResponse.Status(code: status, reasonPhrase: message))
    }
    response = fault(delayed(response.headers(of: object)))
    object.finish(ignoring: ignoring)
    return response
  }

  private func body() -> MockResponse {
    let keys = ["body", "jsonBody", "base64Body", "bodyFileName"].filter { object.node[$0].map { !$0.isNull } ?? false }
    if keys.count > 1 {
      object.note(keys[1], "the response has \(keys.joined(separator: " and ")): use only one.")
    }
    if let text = object.string("body") { return .data(Data(text.utf8)) }
    if let json = object.value("jsonBody") { return .data(Data(json.text.utf8), type: "application/json") }
    if let base64 = object.string("base64Body") {
      if let data = Data(base64Encoded: base64) { return .data(data) }
      object.note("base64Body", "\"base64Body\" is not Base64 (RFC 4648, section 4).")
    }
    if let name = object.string("bodyFileName") {
      let file = files.appendingPathComponent(name)
      do {
        _ = try MessageBody.existing(file)
        return .file(file)
      } catch {
        object.note("bodyFileName", "the file \(name) is not in \(files.path), or cannot be read.")
      }
    }
    return .status(200)
  }

  private func delayed(_ response: MockResponse) -> MockResponse {
    var response = response
    let fixed = object.number("fixedDelayMilliseconds")
    if let fixed { response = response.delay(Self.milliseconds(fixed)).checked(by: object, "fixedDelayMilliseconds") }
    if let distribution = object.object("delayDistribution") {
      if fixed != nil { object.note("delayDistribution", "there is also a fixed delay: use only one.") }
      if let delay = delay(distribution) { response = response.delay(delay).checked(by: object, "delayDistribution") }
      distribution.finish(ignoring: ignoring)
    }
    if let dribble = object.object("chunkedDribbleDelay") {
      let total = dribble.number("totalDuration")
      // Into how many pieces a body falls is decided by its time.
      dribble.skip("numberOfChunks")
      dribble.finish(ignoring: ignoring)
      if let total { response = response.total(Self.milliseconds(total)).checked(by: object, "chunkedDribbleDelay") }
    }
    return response
  }

  private func delay(_ distribution: FixtureObject) -> MockDelay? {
    func time(_ key: String) -> Duration {
      if distribution.node[key] == nil { distribution.note(key, "the distribution has no \"\(key)\".") }
      return distribution.number(key).map(Self.milliseconds) ?? .zero
    }
    switch distribution.string("type") {
    case "lognormal": return .logNormal(median: time("median"), sigma: distribution.number("sigma") ?? .nan)
    case "uniform": return .uniform(from: time("lower"), to: time("upper"))
    case "fixed": return .fixed(time("milliseconds"))
    case let type:
      distribution.note(
        "type", "\(type.map { "\"\($0)\"" } ?? "none") is not a known distribution: use lognormal, uniform or fixed.")
      distribution.skip("median", "sigma", "lower", "upper", "milliseconds")
      return nil
    }
  }

  /// A duration of so many milliseconds; a negative one stays negative, to be refused with the others.
  private static func milliseconds(_ number: Double) -> Duration {
    number < 0 ? .milliseconds(-1) : .ofSeconds(number / 1000)
  }

  private func fault(_ response: MockResponse) -> MockResponse {
    switch object.string("fault") {
    case nil: return response
    case "EMPTY_RESPONSE": return response.fault(.emptyResponse)
    case "CONNECTION_RESET_BY_PEER": return response.fault(.connectionReset)
    case "RANDOM_DATA_THEN_CLOSE": return response.fault(.malformedResponse)
    case "MALFORMED_RESPONSE_CHUNK": return response.fault(.malformedChunk())
    case let fault?:
      object.note(
        "fault",
        "\"\(fault)\" is not a known fault: use EMPTY_RESPONSE, CONNECTION_RESET_BY_PEER, RANDOM_DATA_THEN_CLOSE or "
          + "MALFORMED_RESPONSE_CHUNK."
      )
      return response
    }
  }
}
