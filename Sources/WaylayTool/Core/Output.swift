#if CommandLineTool
  import Foundation
  import WaylayCore

  /// Prints results to standard output, everything else to standard error.
  ///
  /// Unbuffered, and not with `print`, which continues forever after the reader closed the pipe.
  enum Output {
    /// The reader closed standard output.
    struct Closed: Error {}

    /// Writes bytes to standard output.
    static func write(_ data: Data) throws {
      do { try AtomicFile.write(data, to: STDOUT_FILENO, "standard output") } catch {
        guard error.code != EPIPE else { throw Closed() }
        throw ToolFailure(
          .files, "output", "standard output cannot be written: \(String(cString: strerror(error.code))).")
      }
    }

    /// Writes a line for people, without terminal control characters.
    static func line(_ text: String = "") throws { try write(Data((shown(text) + "\n").utf8)) }

    /// Writes a text unchanged, for example source code; on a terminal, without control characters.
    static func text(_ text: String) throws {
      guard isTerminal else { return try write(Data(text.utf8)) }
      var filter = TerminalFilter()
      try write(filter.shown(Data(text.utf8)) + filter.end())
    }

    /// A number of entries in words.
    static func entries(_ count: Int) -> String { count == 1 ? "1 entry" : "\(count) entries" }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes one JSON object with sorted keys.
    static func json(_ value: some Encodable) throws { try write(try encoded(value) + Data("\n".utf8)) }

    /// Encodes a value as JSON on one line. Terminal control characters are written as JSON escapes.
    static func encoded(_ value: some Encodable) throws -> Data {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.dateEncodingStrategy = .iso8601
      let json = String(decoding: try encoder.encode(value), as: UTF8.self)
      guard json.unicodeScalars.contains(where: isHostile) else { return Data(json.utf8) }
      return Data(
        json.unicodeScalars.reduce(into: "") { text, scalar in
          text += isHostile(scalar) ? String(format: "\\u%04x", scalar.value) : String(scalar)
        }.utf8)
    }

    /// Writes a message to standard error.
    static func complain(_ text: String) { tell("waylay: \(shown(text))") }

    /// Writes a line to standard error. Errors are ignored: it may be closed, full or unread.
    static func tell(_ line: String) {
      try? AtomicFile.write(Data("\(line)\n".utf8), to: STDERR_FILENO, "standard error")
    }

    /// A text without control characters and without characters that change the text direction.
    static func shown(_ text: String) -> String {
      guard text.unicodeScalars.contains(where: isHostile) else { return text }
      var result = String.UnicodeScalarView()
      for scalar in text.unicodeScalars { result.append(isHostile(scalar) ? "\u{FFFD}" : scalar) }
      return String(result)
    }

    private static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
      if scalar == "\n" || scalar == "\t" { return false }
      // Bidirectional control characters change the text direction.
      return scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
    }
  }

  /// Removes terminal control characters from chunks of text.
  struct TerminalFilter {
    /// An incomplete UTF-8 sequence, or a CR that may be the first half of CRLF.
    private var rest = Data()

    mutating func shown(_ bytes: Data) -> Data {
      rest += bytes
      var whole = rest.count
      if rest.last == UInt8(ascii: "\r") {
        whole -= 1
      } else if let lead = rest.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }), rest[lead] >= 0xC0,
        rest.endIndex - lead < (rest[lead] >= 0xF0 ? 4 : rest[lead] >= 0xE0 ? 3 : 2)
      {
        whole = lead - rest.startIndex
      }
      defer { rest = Data(rest.dropFirst(whole)) }
      return Self.shown(rest.prefix(whole))
    }

    /// The remainder, at the end of the input.
    mutating func end() -> Data {
      defer { rest = Data() }
      return Self.shown(rest)
    }

    private static func shown(_ bytes: Data) -> Data {
      Data(Output.shown(String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")).utf8)
    }
  }

  /// A JSON object with one long list, written element by element: `{"entries":[…],"count":2}`.
  struct JSONList {
    /// The text before the next element. The opening is printed with the first element, so that a failure before it
    /// prints an error object only.
    private var separator: String

    init(_ name: String) { separator = "{\"\(name)\":[" }

    mutating func append(_ element: some Encodable) throws {
      try Output.write(Data(separator.utf8) + Output.encoded(element))
      separator = ",\n"
    }

    /// Ends the list, and adds the members of `rest` to the object.
    func end(_ rest: some Encodable) throws {
      let members = try Output.encoded(rest).dropFirst()
      let opening = separator == ",\n" ? "" : separator
      try Output.write(Data((opening + (members.count > 1 ? "]," : "]")).utf8) + members + Data("\n".utf8))
    }
  }

  /// An output file, written atomically; it replaces an existing file only with `mayReplace`.
  struct OutputFile {
    let path: String
    let mayReplace: Bool

    init(_ path: String, mayReplace: Bool) {
      // The name that other programs use.
      self.path = path == "-" ? "/dev/stdout" : path
      self.mayReplace = mayReplace
    }

    var isStandardOutput: Bool { path == "/dev/stdout" }

    /// Starts writing the file.
    ///
    /// - Throws: ``ToolFailure`` if the file exists and must not be replaced, or cannot be made.
    func writer(mode: mode_t = 0o666) throws -> AtomicFile.Writer {
      // A terminating signal removes the drafts of files.
      Drafts.watch
      do throws(SystemError) {
        return try AtomicFile.Writer(path, mode: mode, replaces: mayReplace)
      } catch {
        throw failure(error)
      }
    }

    /// The failure with the program's message for a system error.
    func failure(_ error: SystemError) -> any Error {
      switch error.code {
      case EEXIST:
        ToolFailure(.files, "file.exists", "\(path) already exists: name another file, or replace it with --force.")
      case EISDIR: ToolFailure(.files, "file.exists", "\(path) is a folder: name a file in it.")
      case ENOENT: ToolFailure(.files, "file.noFolder", "the folder of \(path) does not exist: create it first.")
      case EPIPE: Output.Closed()
      default: ToolFailure(.files, "file.unwritable", "\(path) cannot be written: \(error)")
      }
    }
  }

  /// Writes a body to standard output, or to a file.
  enum BodyPrinter {
    static func print(_ body: MessageBody, to output: OutputFile?) async throws {
      guard let output else {
        var filter = Output.isTerminal ? TerminalFilter() : nil
        for try await chunk in body { try Output.write(filter?.shown(chunk) ?? chunk) }
        return try Output.write(filter?.end() ?? Data())
      }
      var writer = try output.writer()
      do {
        for try await chunk in body { try writer.write(chunk) }
        try writer.commit()
      } catch let error as SystemError {
        throw output.failure(error)
      }
    }
  }
#endif
