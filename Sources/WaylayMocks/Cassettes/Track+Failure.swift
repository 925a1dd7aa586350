import Foundation
import WaylayHAR

// An exchange that failed has, beside Chrome's `_error` in words, what failed in a field of our own, `_failure`.

extension HAR.Entry {
  /// Writes down that the exchange failed, and how.
  mutating func fail(_ error: any Error) {
    let transport = error as? TransportError ?? (error as? URLError)?.cause(as: TransportError.self)
    let code = transport?.code ?? (error as? URLError)?.code ?? (error is CancellationError ? .cancelled : .unknown)
    var failure: [String: WaylayHAR.JSONValue] = [
      "code": .integer(Int64(code.rawValue)), "message": .string(transport?.message ?? "The load failed."),
    ]
    if let transport {
      failure["cause"] = .string(transport.cause.description)
      failure["phase"] = .string(transport.phase.description)
      if let sent = transport.requestBytesSent { failure["bytesSent"] = .integer(sent) }
    }
    extensions["_failure"] = .object(failure)
    extensions["_error"] = .string("URLError \(code.rawValue)")
  }

  /// Writes down that nobody has read the answer to its end.
  mutating func abandon() {
    extensions["_abandoned"] = true
  }
}

extension Track {
  /// What the exchange failed with, if it did.
  func failure(of request: InterceptedRequest) -> TransportError? {
    if entry.extensions["_abandoned"]?.bool == true {
      return TransportError(
        .networkConnectionLost, phase: .receiving,
        message: "the response was not read beyond this point when the cassette was recorded: re-record it.")
    }
    if let failure = entry.extensions["_failure"], let number = failure["code"]?.int {
      // Any number makes a code on Apple platforms.
      let code: URLError.Code? = URLError.Code(rawValue: number)
      return TransportError(
        code ?? .unknown, cause: failure["cause"]?.string.map { TransportError.Cause($0) },
        phase: failure["phase"]?.string.map { TransportError.Phase($0) } ?? .unknown,
        requestBytesSent: failure["bytesSent"]?.int.map(Int64.init),
        message: failure["message"]?.string ?? "the exchange failed when it was recorded.")
    }
    let browserError = (entry.extensions["_error"] ?? entry.response.extensions["_error"])?.string
    guard entry.response.status == 0 || browserError != nil else { return nil }
    guard let browserError, !browserError.isEmpty else { return Self.silence(request) }
    return TransportError(
      Self.code(ofBrowser: browserError), message: "the exchange failed when it was recorded: \(browserError)")
  }

  /// What a client sees of an entry without an answer.
  static func silence(_ request: InterceptedRequest) -> TransportError {
    TransportError(.networkConnectionLost, message: "there was no response when the cassette was recorded.")
  }

  /// The code that is nearest to an error of Chrome.
  private static func code(ofBrowser error: String) -> URLError.Code {
    let known: [(String, URLError.Code)] = [
      ("NAME_NOT_RESOLVED", .cannotFindHost), ("CONNECTION_REFUSED", .cannotConnectToHost),
      ("ADDRESS_UNREACHABLE", .cannotConnectToHost), ("CONNECTION_FAILED", .cannotConnectToHost),
      ("INTERNET_DISCONNECTED", .notConnectedToInternet), ("TIMED_OUT", .timedOut),
      ("CERT_DATE_INVALID", .serverCertificateHasBadDate), ("CERT_", .serverCertificateUntrusted),
      ("SSL_", .secureConnectionFailed), ("ABORTED", .cancelled), ("INVALID_RESPONSE", .badServerResponse),
    ]
    return known.first { error.uppercased().contains($0.0) }?.1 ?? .networkConnectionLost
  }
}
