import ArgumentParser
import Foundation
import WaylayHAR

/// Makes a text of each entry that is meant, and prints them or writes them to a file.
struct Rendering: ParsableArguments {
  @Argument(help: "The archive.") var file: String
  @OptionGroup var common: CommonOptions
  @OptionGroup var target: FileOptions
  @OptionGroup var entries: EntryOptions
  @OptionGroup var secrets: RedactionOptions

  /// - Parameters:
  ///   - list: The name of the list in JSON.
  ///   - name: That of a text in it.
  ///   - render: Gives the text of an entry; `nil` for one that there is none of.
  func run(list: String, name: String, _ render: (HAR.Entry) -> String?) throws {
    let output = try target.file()
    let handle = try output?.open()
    do {
      let (count, all, leftOut) = try write(list, name, to: handle, render)
      guard count + leftOut > 0 || all == 0 else { throw entries.nothing(in: file, of: all) }
      if leftOut > 0 { Output.complain("\(leftOut) of \(all) entries have no response and are left out.") }
      try handle?.close()
      try output?.place()
    } catch {
      output?.discard()
      throw error
    }
  }

  private func write(
    _ list: String, _ name: String, to handle: FileHandle?, _ render: (HAR.Entry) -> String?
  ) throws -> (count: Int, all: Int, leftOut: Int) {
    func put(_ text: String) throws {
      if let handle { try handle.write(contentsOf: Data(text.utf8)) } else if !common.json { try Output.text(text) }
    }
    var json = try common.json ? JSONList(list) : nil
    var (count, leftOut) = (0, 0)
    let all = try HARFile(file).forEach { number, entry in
      guard entries.picks(number, entry) else { return }
      guard let text = render(entry) else {
        leftOut += 1
        return
      }
      try put((count == 0 ? "" : "\n") + text + "\n")
      count += 1
      try json?.append([name: JSONText.text(text), "entry": .number(number)])
    }
    try json?.end(["count": count, "leftOut": leftOut])
    return (count, all, leftOut)
  }

  private enum JSONText: Encodable {
    case text(String)
    case number(Int)

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .number(let number): try container.encode(number)
      }
    }
  }
}
