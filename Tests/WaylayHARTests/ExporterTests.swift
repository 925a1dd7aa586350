import Foundation
import Testing
import WaylayHAR

@Suite("A HAR file of another program")
struct ExporterTests {
  @Test("is the same after it has been written, and loses none of its members", arguments: ExporterTests.exporters)
  func written(exporter: Exporter) throws {
    let original = try HAR(data: Data(exporter.text.utf8))
    var archive = original
    for isPretty in [true, false] {
      let data = archive.data(isPretty: isPretty)
      archive = try HAR(data: data)
      #expect(archive == original)
      #expect(Self.losses(try JSONValue(parsing: exporter.text), try JSONValue(parsing: data), "") == [])
    }
    for entry in original.entries { #expect(try HAR.Entry(data: entry.data()) == entry) }
  }

  @Test("keeps its times when it is redacted, and says no more of the size before compression")
  func redacted() throws {
    let exporter = try #require(Self.exporters.first)
    let entry = try HAR(data: Data(exporter.text.utf8)).entries[0]
    #expect(entry.response.body.extensions["compression"] == 9)
    let copy = Redaction.standard.redacted(entry)
    #expect(copy.time == entry.time && copy.started == entry.started && copy.timings == entry.timings)
    #expect(copy.response.body.extensions["compression"] == nil && copy.response.body.text?.contains("s3cret") == false)
  }

  @Test("has another total after its times have been set, and another time after it has been moved")
  func changed() throws {
    var entry = try HAR(data: Data(try #require(Self.exporters.first).text.utf8)).entries[0]
    #expect(entry.time == 104.2130000286177)
    entry.timings.wait = 1
    #expect(entry.time == entry.timings.total)
    entry.started = Date(timeIntervalSince1970: 1.000_25)
    #expect(try JSONValue(parsing: entry.data())["startedDateTime"] == "1970-01-01T00:00:01.000250Z")
  }

  @Test("has a remark on a truncated body once, however often it is written")
  func remark() throws {
    for comment in ["", #","comment":"cut""#] {
      let content = #"{"size":9,"mimeType":"text/plain","text":"abc"\#(comment)}"#
      var archive = try HAR(data: Data(Self.log(#"{"content":\#(content)}"#).utf8))
      let once = archive.data()
      for _ in 0..<3 { archive = try HAR(data: archive.data()) }
      #expect(archive.data() == once && archive.entries[0].response.body.isTruncated)
    }
  }

  @Test("is read oldest first, as it is written")
  func order() throws {
    let entries = ["2026-03-01T10:00:02Z", "2026-03-01T12:00:01+02:00", "2026-03-01T10:00:02Z"].enumerated()
      .map { #"{"startedDateTime":"\#($1)","request":{"method":"GET","url":"https://a.test/\#($0)"},"response":{}}"# }
    let archive = try HAR(data: Data(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8))
    #expect(archive.entries.map { $0.request.url.last } == ["1", "0", "2"])
    #expect(try HAR(data: archive.data()) == archive)
  }

  /// The places of members that are missing or have other values; times may differ by half a microsecond.
  private static func losses(_ old: JSONValue, _ new: JSONValue?, _ place: String) -> [String] {
    if let members = old.members {
      return members.flatMap { losses($0.value, new?[$0.name], "\(place).\($0.name)") }
    }
    if let values = old.array {
      return values.enumerated().flatMap { losses($1, new?[$0], "\(place)[\($0)]") }
    }
    if let one = old.double, let other = new?.double { return abs(one - other) < 0.000_51 ? [] : [place] }
    return old == new || old.isNull && new == nil || old == "" && new == nil ? [] : [place]
  }

  struct Exporter: Sendable, CustomStringConvertible {
    let description: String
    let text: String
  }

  private static func log(_ response: String) -> String {
    #"{"log":{"entries":[{"request":{"method":"GET","url":"https://a.test/"},"response":\#(response)}]}}"#
  }

  /// - Parameters:
  ///   - log: The members of the log before its entries.
  ///   - entry: The members of the entry beside those of the request and the response.
  private static func exporter(
    _ name: String, _ log: String, _ entry: String, request: String = "", response: String = ""
  ) -> Exporter {
    let head = #""method":"POST","url":"https://api.test/v1/items?page=2&q=a%20b","httpVersion":"HTTP/1.1""#
    let status = #""status":200,"statusText":"OK","httpVersion":"HTTP/1.1","redirectURL":"""#
    let text = """
      {"log":{"version":"1.2",\(log),"entries":[{\(entry),
        "request":{\(head),"headers":[{"name":"Accept","value":"*/*"}],"cookies":[],
          "queryString":[{"name":"page","value":"2"},{"name":"q","value":"a b"}]\(request)},
        "response":{\(status),"headers":[{"name":"Content-Type","value":"application/json"}],"cookies":[]\(response)}}]}}
      """
    return Exporter(description: name, text: text)
  }

  static let exporters = [
    exporter(
      "Chrome",
      #""creator":{"name":"WebInspector","version":"537.36"},"pages":[{"startedDateTime":"2026-03-01T10:00:00.123Z","id":"page_1","title":"https://api.test/","pageTimings":{"onContentLoad":514.2569999,"onLoad":null}}]"#,
      #""_connectionId":"61","_initiator":{"type":"script","stack":{"callFrames":[]}},"_priority":"High","_resourceType":"fetch","cache":{},"connection":"443","pageref":"page_1","serverIPAddress":"[2001:db8::1]","startedDateTime":"2026-03-01T10:00:00.125Z","time":104.2130000286177,"timings":{"blocked":2.4390000286177,"dns":-1,"ssl":-1,"connect":-1,"send":0.17,"wait":101.0019999,"receive":0.602,"_blocked_queueing":1.5,"_workerStart":-1}"#,
      request:
        #","headersSize":-1,"bodySize":14,"postData":{"mimeType":"application/json","text":"{\"name\":\"pen\"}"}"#,
      response:
        #","content":{"size":28,"mimeType":"application/json","compression":9,"text":"{\"session_token\":\"s3cret-9\"}"},"headersSize":-1,"bodySize":-1,"_transferSize":412,"_error":null,"_fetchedViaServiceWorker":false"#
    ),
    exporter(
      "Firefox",
      #""creator":{"name":"Firefox","version":"140.0"},"browser":{"name":"Firefox","version":"140.0"},"pages":[{"id":"page_1","pageTimings":{"onContentLoad":-1,"onLoad":2042},"startedDateTime":"2026-03-01T11:00:00.123+01:00","title":"Items"}]"#,
      #""startedDateTime":"2026-03-01T11:00:00.456+01:00","cache":{"afterRequest":null},"timings":{"blocked":1,"dns":0,"connect":34,"ssl":21,"send":0,"wait":40,"receive":0},"time":96,"_securityState":"secure","serverIPAddress":"192.0.2.1","connection":"443","pageref":"page_1""#,
      request:
        #","headersSize":430,"bodySize":7,"postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"1"}],"text":"a=1"}"#,
      response:
        #","content":{"mimeType":"image/png","size":8,"encoding":"base64","text":"iVBORw0KGgo=","comment":"shown"},"headersSize":201,"bodySize":209"#
    ),
    exporter(
      "Safari",
      #""creator":{"name":"WebKit Web Inspector","version":"1.0"},"pages":[{"startedDateTime":"2026-03-01T10:00:00.000Z","id":"page_0","title":"https://api.test/","pageTimings":{"onContentLoad":120.11800000071526,"onLoad":350.5}}]"#,
      #""pageref":"page_0","startedDateTime":"2026-03-01T10:00:00.456Z","time":52.00000000477303,"cache":{},"timings":{"blocked":3.2,"dns":1.1,"connect":20.25,"ssl":12,"send":2,"wait":20,"receive":5.45},"serverIPAddress":"192.0.2.1","_serverPort":443,"connection":"7C22","_fetchType":"Network Load","_priority":"high""#,
      response: #","content":{"size":2,"compression":0,"mimeType":"application/json","text":"{}"},"_transferSize":300"#),
    exporter(
      "WebPageTest",
      #""creator":{"name":"WebPagetest","version":"21.07"},"pages":[{"startedDateTime":"2026-03-01T10:00:00.000+00:00","title":"Run 1","id":"page_1_0_1","pageTimings":{"onLoad":4021,"onContentLoad":-1,"_startRender":1300},"_bytesIn":90210,"_URL":"https://api.test/"}]"#,
      #""pageref":"page_1_0_1","startedDateTime":"2026-03-01T10:00:00.4+00:00","time":250,"timings":{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,"send":0,"wait":200,"receive":60},"cache":{},"_ip_addr":"192.0.2.1","_load_ms":"260","_all_start":"400","_chunks_in":[{"ts":1,"bytes":20}]"#,
      response: #","content":{"size":40,"mimeType":"application/json"},"bodySize":40,"headersSize":120"#),
    exporter(
      "Playwright",
      #""creator":{"name":"Playwright","version":"1.50.0"},"browser":{"name":"chromium","version":"133.0"}"#,
      #""startedDateTime":"2026-03-01T10:00:00.456Z","time":12.034,"cache":{},"timings":{"dns":-1,"connect":-1,"ssl":-1,"send":0,"wait":8.123,"receive":3.911},"_monotonicTime":1234.567,"_securityDetails":{"protocol":"TLS 1.3","validTo":1780000000}"#,
      response:
        #","content":{"size":512,"mimeType":"application/json","_file":"6f1ed002ab5595859014ebf0951522d9.json"},"headersSize":-1,"bodySize":-1,"_transferSize":-1"#
    ),
    exporter(
      "Charles",
      #""creator":{"name":"Charles Proxy","version":"4.6.4"}"#,
      #""startedDateTime":"2026-03-01T10:00:00.456+01:00","time":310,"serverIPAddress":"192.0.2.1","connection":"54312","cache":{},"timings":{"blocked":-1,"dns":12,"connect":40,"ssl":33,"send":0,"wait":250,"receive":8}"#,
      request: #","headersSize":312,"bodySize":0,"_charlesStatus":"COMPLETE""#,
      response: #","content":{"size":2,"compression":0,"mimeType":"application/json;charset=utf-8","text":"[]"}"#),
    exporter(
      "Fiddler",
      #""creator":{"name":"Fiddler","version":"5.0.20253.3311","comment":"https://fiddler2.com"},"pages":[]"#,
      #""startedDateTime":"2026-03-01T10:00:00.4567891-05:00","time":88,"cache":{},"connection":"ClientPort:52011;EgressPort:52012","timings":{"blocked":-1,"dns":0,"connect":20,"ssl":-1,"send":0,"wait":60,"receive":8,"comment":""},"comment":"[#12]""#,
      response: #","content":{"size":2,"compression":-20,"mimeType":"application/json","text":"{}","comment":""}"#),
    exporter(
      "Proxyman",
      #""creator":{"name":"Proxyman","version":"5.1.0","comment":"Proxyman HTTP Archive"},"comment":"""#,
      #""startedDateTime":"2026-03-01T10:00:00.456789+07:00","time":140.56301116943359,"cache":{},"timings":{"send":0.0021,"wait":139,"receive":1.5609,"blocked":0,"connect":0,"dns":0,"ssl":0},"_webSocketMessages":[{"type":"send","time":1772359200.5,"opcode":1,"data":"hi"}]"#,
      response: #","content":{"size":2,"mimeType":"application/json","text":"{}","encoding":null}"#),
    exporter(
      "mitmproxy",
      #""creator":{"name":"mitmproxy","version":"12.0","comment":""},"pages":[]"#,
      #""startedDateTime":"2026-03-01T10:00:00.456789+00:00","time":165.64488410949707,"cache":{},"timings":{"connect":31.015,"ssl":51.26,"send":8.36,"receive":3.02,"wait":40.17},"serverIPAddress":"192.0.2.1""#,
      request: #","headersSize":290,"bodySize":0"#,
      response: #","content":{"size":2,"compression":18,"mimeType":"application/json","text":"{}"}"#),
    exporter(
      "Insomnia", #""creator":{"name":"Insomnia REST Client","version":"insomnia.desktop.app:v10.0"}"#,
      #""startedDateTime":"2026-03-01T10:00:00.456Z","time":201.5,"cache":{},"timings":{"blocked":-1,"dns":-1,"connect":-1,"send":0,"wait":201.5,"receive":0,"ssl":-1},"comment":"List items""#,
      request: #","settingEncodeUrl":true,"headersSize":-1,"bodySize":-1"#,
      response: #","content":{"size":2,"mimeType":"application/json","text":"{}"}"#),
    exporter(
      "Postman", #""creator":{"name":"Postman","version":"v11.2"}"#,
      #""startedDateTime":"2026-03-01T10:00:00.456Z","time":43,"cache":{},"timings":{"send":1,"wait":40,"receive":2,"dns":3,"connect":0,"blocked":1,"ssl":0}"#,
      request:
        #","postData":{"mimeType":"multipart/form-data","params":[{"name":"f","fileName":"a.txt","contentType":"text/plain"},{"name":"n","value":"1","comment":"x"}],"text":""}"#,
      response: #","content":{"size":2,"mimeType":"application/json","text":"{}"}"#),
    exporter(
      "k6", #""creator":{"name":"k6 Browser Recorder","version":"2.0"},"comment":"flow","_exporter":{"id":1}"#,
      #""startedDateTime":"2026-03-01T10:00:00.4Z","time":0,"pageref":"group_1","cache":{},"timings":{"send":0,"wait":0,"receive":0},"checks":[{"type":0,"expression":"200"}]"#,
      response: #","content":{"size":0,"mimeType":""}"#),
    exporter(
      "HTTP Toolkit", #""creator":{"name":"HTTP Toolkit","version":"1.20"}"#,
      #""startedDateTime":"2026-03-01T10:00:00.456Z","time":13.25,"cache":{},"timings":{"blocked":-1,"dns":-1,"connect":-1,"ssl":-1,"send":2,"wait":10,"receive":1.25},"_pinned":true"#,
      request: #","headersSize":-1,"bodySize":4,"_requestBodyStatus":"discarded:not-representable""#,
      response: #","content":{"size":4,"mimeType":"application/protobuf","_rawBody":"CAEQAg=="}"#),
    exporter(
      "BrowserMob",
      #""creator":{"name":"BrowserMob Proxy","version":"2.1.5","comment":""},"pages":[{"id":"Page 0","startedDateTime":"2026-03-01T10:00:00.123Z","title":"Page 0","pageTimings":{"onLoad":9000,"comment":"all"},"comment":""}],"comment":"""#,
      #""pageref":"Page 0","startedDateTime":"2026-03-01T10:00:00.456Z","time":290,"cache":{},"timings":{"comment":"","send":0,"dns":1,"wait":270,"ssl":90,"receive":8,"blocked":11,"connect":130},"serverIPAddress":"192.0.2.1","comment":"""#,
      response: #","content":{"size":2,"mimeType":"application/json","text":"{}","comment":""},"comment":"""#),
    exporter(
      "Paw", #""creator":{"name":"Paw","version":"3.4.0"},"_plugin":null"#,
      #""startedDateTime":"2026-03-01T10:00:00.456-0800","time":1034.5,"cache":{},"timings":{"send":0.5,"wait":1000,"receive":34}"#,
      response: #","content":{"size":3,"mimeType":"application/octet-stream","encoding":"base64","text":"AAEC"}"#),
  ]
}
