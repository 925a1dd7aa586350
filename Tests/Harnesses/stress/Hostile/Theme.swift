/// What an exchange is about.
enum Theme {
  /// One answer, right or wrong in any way.
  case answer
  /// A redirect to a place of some kind.
  case redirect(Int)
  /// A demand for credentials.
  case challenge
  /// The connection ends before anything is said.
  case nothing
  /// Several requests to one URL through an archive, and then what it says without its origin.
  case archive
}

/// How an exchange is asked for.
enum Way {
  case task, handler, delegate, data, load, bytes
  /// The reader goes away after the first bytes.
  case dropped

  static let reading: [Way] = [.task, .handler, .delegate, .data, .load, .bytes]
}

/// What chance says about an exchange, which client and server both know.
struct Plan {
  let seed: UInt64
  let number: Int
  let theme: Theme
  let method: String
  let way: Way

  init(_ seed: UInt64, _ number: Int) {
    self.seed = seed
    self.number = number
    var dice = Dice(seed, number, 0, 0)
    switch dice.roll(100) {
    case ..<45: theme = .answer
    case ..<55: theme = .redirect(dice.roll(24))
    case ..<61: theme = .challenge
    case ..<63: theme = .nothing
    default: theme = .archive
    }
    if case .archive = theme {
      method = "GET"
      way = dice.pick(Way.reading)
    } else {
      method = dice.pick(["GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST"])
      way = dice.chance(4) ? .dropped : dice.pick(Way.reading)
    }
  }

  var path: String { "/\(number)" }
}
