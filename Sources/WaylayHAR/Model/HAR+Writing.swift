extension HAR {
  /// Writes the part before the first entry.
  func writeBeginning(to json: inout JSONWriter) {
    json.open("{")
    json.member("log") { json in
      json.open("{")
      json.member("version", version)
      json.member("creator") { creator.write(to: &$0) }
      if let browser { json.member("browser") { browser.write(to: &$0) } }
      json.member("pages") { $0.array(pages) { $0.write(to: &$1) } }
      json.member(ifAny: "comment", comment)
      json.members(extensions)
      json.member("entries") { $0.open("[") }
    }
    let ordered = entries.enumerated().sorted {
      ($0.element.started, $0.offset) < ($1.element.started, $1.offset)
    }
    for (_, entry) in ordered {
      json.separate()
      entry.write(to: &json)
    }
  }

  /// Writes the part after the last entry.
  func writeEnd(to json: inout JSONWriter) {
    json.close("]")
    json.close("}")
    json.close("}")
    json.raw("\n")
  }
}

extension HAR.Application {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("version", version)
      json.member(ifAny: "comment", comment)
      json.members(extensions)
    }
  }
}

extension HAR.Page {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("startedDateTime", Timestamp.text(started))
      json.member("id", id)
      json.member("title", title)
      json.member("pageTimings") { json in
        json.object { json in
          json.member("onContentLoad", onContentLoad.map { JSONValue($0) } ?? -1)
          json.member("onLoad", onLoad.map { JSONValue($0) } ?? -1)
        }
      }
      json.member(ifAny: "comment", comment)
      json.members(extensions)
    }
  }
}

extension HAR.Entry {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member(ifAny: "pageref", page)
      json.member("startedDateTime", Timestamp.text(started))
      json.member("time") { $0.raw(timings.totalText) }
      json.member("request") { request.write(to: &$0) }
      json.member("response") { response.write(to: &$0) }
      json.member("cache", cache.jsonValue)
      json.member("timings") { timings.write(to: &$0) }
      json.member(ifAny: "serverIPAddress", serverAddress)
      json.member(ifAny: "connection", connection)
      json.member(ifAny: "comment", comment)
      json.members(extensions)
    }
  }
}

extension HAR.Request {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("method", method)
      json.member("url", url)
      json.member("httpVersion", httpVersion)
      json.member("cookies") { $0.array(cookies) { $0.write(to: &$1) } }
      json.member("headers") { $0.array(headers) { $0.write(to: &$1) } }
      json.member("queryString") { $0.array(query) { $0.write(to: &$1) } }
      if let body { json.member("postData") { body.writeAsSent(to: &$0) } }
      json.member("headersSize", headersSize ?? -1)
      json.member("bodySize", bodySize ?? -1)
      json.member(ifAny: "comment", comment)
      json.members(extensions)
    }
  }
}

extension HAR.Response {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("status", status)
      json.member("statusText", statusText)
      json.member("httpVersion", httpVersion)
      json.member("cookies") { $0.array(cookies) { $0.write(to: &$1) } }
      json.member("headers") { $0.array(headers) { $0.write(to: &$1) } }
      json.member("content") { body.writeAsReceived(to: &$0) }
      json.member("redirectURL", redirectURL)
      json.member("headersSize", headersSize ?? -1)
      json.member("bodySize", bodySize ?? -1)
      json.member(ifAny: "comment", comment)
      json.members(extensions)
    }
  }
}

extension HAR.Field {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("value", value)
      json.member(ifAny: "comment", comment)
    }
  }
}

extension HAR.Cookie {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("value", value)
      json.member(ifAny: "path", path)
      json.member(ifAny: "domain", domain)
      json.member(ifAny: "expires", expires)
      if let isHTTPOnly { json.member("httpOnly", isHTTPOnly) }
      if let isSecure { json.member("secure", isSecure) }
      json.member(ifAny: "comment", comment)
      json.members(extensions)
    }
  }
}

extension HAR.Body {
  fileprivate func writeAsReceived(to json: inout JSONWriter) {
    json.object { json in
      json.member("size", size)
      json.member("mimeType", mediaType)
      if let text {
        if !text.isEmpty { json.member("text", text) }
      } else {
        json.member("text", data.base64EncodedString())
        json.member("encoding", "base64")
      }
      writeEnd(to: &json)
    }
  }

  fileprivate func writeAsSent(to json: inout JSONWriter) {
    json.object { json in
      json.member("mimeType", mediaType)
      if !parameters.isEmpty { json.member("params") { $0.array(parameters) { $0.write(to: &$1) } } }
      json.member("text", text ?? "")
      if text == nil { json.member("_base64", data.base64EncodedString()) }
      if isTruncated { json.member("_size", size) }
      writeEnd(to: &json)
    }
  }

  /// Notes a truncation in the comment and in `_truncated`.
  private func writeEnd(to json: inout JSONWriter) {
    let remark = isTruncated ? "The first \(data.count) of \(size) bytes." : nil
    let texts = [comment, remark == comment ? nil : remark].compactMap(\.self)
    json.member(ifAny: "comment", texts.isEmpty ? nil : texts.joined(separator: " "))
    if isTruncated { json.member("_truncated", true) }
    json.members(extensions)
  }
}

extension HAR.Parameter {
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member(ifAny: "value", value)
      json.member(ifAny: "fileName", fileName)
      json.member(ifAny: "contentType", mediaType)
      json.member(ifAny: "comment", comment)
    }
  }
}
