import Foundation
import WaylayHAR

// The listings of `Inspecting.md` about files. They compile here; the tests of the module run what they show.

private func reading(file: URL) throws {
  let archive = try HAR(contentsOf: file)
  for entry in archive.entries where entry.response.status >= 400 {
    print(entry.request.method, entry.request.url, entry.response.status, entry.time)
  }
}

private func writing(answer: Data, file: URL) throws {
  var entry = HAR.Entry(
    started: Date(),
    request: HAR.Request(
      method: "GET", url: "https://api.example.com/v1?page=2", headers: [HAR.Field("Accept", "application/json")]),
    response: HAR.Response(status: 200, body: HAR.Body(answer, mediaType: "application/json")))
  entry.timings = HAR.Timings(dns: 4, connect: 31, ssl: 22, send: 0.1, wait: 80, receive: 3)
  try Redaction.standard.redacted(HAR(entries: [entry])).write(to: file)
}

private func redacting(archive: HAR) {
  var redaction = Redaction.standard
  redaction.hide("patient_id")
  redaction.show("sort_key")
  let shareable = redaction.redacted(archive)
  _ = shareable
  print(redaction.report(archive))
  print(redaction.redacted(archive).entries[0].request.curlCommand())
}

private func streaming(file: URL, redacted: URL) throws {
  var reader = try HARReader(file)
  var writer = try HARWriter(redacted)
  while let entry = try reader.next() {
    try writer.append(Redaction.standard.redacted(entry))
  }
  try writer.finish()
}
