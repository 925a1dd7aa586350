// What the sources of the search see of the Inspector: an exchange with the parts that are looked at, made of bytes.

public enum Inspector {
  public struct Exchange {
    struct ID { var number = 0 }

    var entry = 0
    var id = ID()
  }
}

struct KeptExchange {
  struct Places {
    var url = 0..<0
    var fields = 0..<0
    var error = 0..<0
    var mediaType = 0..<0
    var host = 0..<0
  }

  struct Body {
    var data = Data()
    var size = 0
  }

  struct Word: CustomStringConvertible {
    var description: String
  }

  var texts: [UInt8] = []
  var places = Places()
  var requestBody = Body()
  var responseBody = Body()
  var status = 200
  var time = 1.0
  var source: Word? = Word(description: "network")
  var state = Word(description: "finished")
  var phase: Word?

  init(_ entry: Int, _ number: Int) {}

  /// An exchange whose texts are those bytes, taken apart at places that they name.
  init(_ bytes: [UInt8]) {
    texts = bytes
    func place(_ index: Int) -> Range<Int> {
      guard index + 1 < bytes.count else { return 0..<0 }
      let (one, other) = (Int(bytes[index]), Int(bytes[index + 1]))
      return min(one, other)..<max(one, other)
    }
    places = Places(url: place(0), fields: place(2), error: place(4), mediaType: place(6), host: place(8))
    responseBody = Body(data: Data(bytes), size: bytes.count)
    status = bytes.count
  }
}
