#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation

  extension TaskInternals {
    /// The body of an upload task, which its request does not carry (P9). `nil` when the session's delegate is to be
    /// asked for a stream.
    static func uploadBody(of task: URLSessionTask) throws -> MessageBody? {
      let value = try property("knownBody", at: bodyPosition, of: task) as Any
      guard let body = Mirror(reflecting: value).children.first?.value else { return nil }
      guard let known = Mirror(reflecting: body).children.first, let label = known.label else { return .empty }
      switch (label, known.value) {
      case ("data", let data as DispatchData): return .data(Data(data))
      case ("file", let url as URL): return .file(url)
      case ("stream", let stream as InputStream): return .stream(reading: stream)
      default: throw changed("URLSessionTask.knownBody.\(label)")
      }
    }

    /// Whether a download task can be given its file: found out once, on an object that belongs to no task.
    static let servesDownloads: Bool = {
      guard let url = URL(string: "http://example.com/"), let table = propertyTable else { return false }
      let probe = URLProtocol(request: URLRequest(url: url), cachedResponse: nil, client: nil)
      let file = URL(fileURLWithPath: "/waylay")
      return table.write(file, into: probe) && downloadedFile(of: probe) == file
    }()

    /// Hands over the file of a download, which the loading system takes from the protocol object at its end (P28).
    ///
    /// The property is not public, and its exported setter ends the process; so it is written where it is stored, once
    /// ``servesDownloads`` has shown that it is there. Call it on the work queue, where the loading system reads it.
    static func setDownloadedFile(_ file: URL, of loader: URLProtocol) throws {
      guard servesDownloads, propertyTable?.write(file, into: loader) == true else {
        throw changed("URLProtocol.properties")
      }
    }

    /// What the loading system will hand to the app.
    static func downloadedFile(of loader: URLProtocol) -> URL? {
      let table = child("properties", at: level(of: URLProtocol.self, in: loader)) as? any DictionaryByName
      return table?.value(named: fileKey) as? URL
    }

    private static let fileKey = "temporaryFileURL"

    /// Where a protocol object keeps what the loading system wants of it.
    private struct PropertyTable: Sendable {
      let offset: Int
      /// Unsafe in name only: a type is a constant.
      nonisolated(unsafe) let type: any DictionaryByName.Type

      func write(_ file: URL, into loader: URLProtocol) -> Bool {
        // The loader is alive for as long as this call, and nobody else is on the queue that its properties are used
        // on.
        type.set(file, named: fileKey, at: Unmanaged.passUnretained(loader).toOpaque() + offset)
      }
    }

    private static let propertyTable: PropertyTable? = {
      guard let (offset, type) = storedPlace(of: "properties", in: URLProtocol.self),
        let type = type as? any DictionaryByName.Type
      else { return nil }
      return PropertyTable(offset: offset, type: type)
    }()
  }

  /// A dictionary whose key type cannot be named, but can be made from a text.
  private protocol DictionaryByName {
    func value(named name: String) -> Any?
    /// Changes the dictionary that is stored at a place. `false` when there is no such key.
    static func set(_ value: Any, named name: String, at place: UnsafeMutableRawPointer) -> Bool
  }

  extension Dictionary: DictionaryByName where Key: RawRepresentable, Key.RawValue == String, Value == Any {
    fileprivate func value(named name: String) -> Any? { Key(rawValue: name).flatMap { self[$0] } }

    fileprivate static func set(_ value: Any, named name: String, at place: UnsafeMutableRawPointer) -> Bool {
      guard !TaskInternals.renamed.withLock({ $0.contains(name) }), let key = Key(rawValue: name) else { return false }
      place.assumingMemoryBound(to: Self.self).pointee[key] = value
      return true
    }
  }
#endif
