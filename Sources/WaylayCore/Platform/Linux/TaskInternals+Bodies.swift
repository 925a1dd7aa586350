#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation

  extension TaskInternals {
    /// The body of an upload task, which its request does not carry (P9). `nil` when the session's delegate is to be
    /// asked for a stream.
    static func uploadBody(of task: URLSessionTask) throws -> MessageBody? {
      let value = try property("knownBody", of: task) as Any
      guard let body = Mirror(reflecting: value).children.first?.value else { return nil }
      guard let known = Mirror(reflecting: body).children.first, let label = known.label else { return .empty }
      switch (label, known.value) {
      case ("data", let data as DispatchData): return .data(Data(data))
      case ("file", let url as URL): return .file(url)
      case ("stream", let stream as InputStream): return .stream(reading: stream)
      default: throw changed("URLSessionTask.knownBody.\(label)")
      }
    }

    /// Whether a download task can be given its file; determined once, on an object that belongs to no task.
    static let servesDownloads: Bool = {
      guard let url = URL(string: "http://example.com/") else { return false }
      let probe = URLProtocol(request: URLRequest(url: url), cachedResponse: nil, client: nil)
      let file = URL(fileURLWithPath: "/waylay")
      return write(file, into: probe) && downloadedFile(of: probe) == file
    }()

    /// Hands over the file of a download, which the loading system takes from the protocol object at its end (P28).
    ///
    /// The property is not public, and its exported setter traps; so it is written at its offset, after
    /// ``servesDownloads`` has verified that. Call it on the work queue, where the loading system reads it.
    static func setDownloadedFile(_ file: URL, of loader: URLProtocol) throws {
      guard servesDownloads, write(file, into: loader) else { throw changed("URLProtocol.properties") }
    }

    /// The file that the loading system will pass to the app.
    static func downloadedFile(of loader: URLProtocol) -> URL? {
      let table = child("properties", at: level(of: URLProtocol.self, in: loader)) as? any DictionaryByName
      return table?.value(named: fileKey) as? URL
    }

    private static let fileKey = "temporaryFileURL"

    /// The place of the table in which a protocol object stores values for the loading system.
    private static let properties = storedPlace(of: "properties", in: URLProtocol.self)

    private static func write(_ file: URL, into loader: URLProtocol) -> Bool {
      guard let properties, let table = properties.type as? any DictionaryByName.Type else { return false }
      // The loader is alive during this call, and no other thread is on the queue on which its properties are used.
      return table.set(file, named: fileKey, at: Unmanaged.passUnretained(loader).toOpaque() + properties.offset)
    }
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
