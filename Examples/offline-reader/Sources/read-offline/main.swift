import Foundation
import OfflineReader

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 3, let command = arguments.first, let page = URL(string: arguments[3]) else {
  print("usage: read-offline load DIRECTORY URL, then read-offline read DIRECTORY URL")
  exit(64)
}
let directory = URL(fileURLWithPath: arguments[2], isDirectory: true)
do {
  if command == "load" {
    for page in try await Reader(at: directory).load(page) { print(page) }
  } else {
    print(try await Reader(at: directory, isReadOnly: true).read(page))
  }
} catch {
  FileHandle.standardError.write(Data("read-offline: \(Reader.message(error))\n".utf8))
  exit(1)
}
