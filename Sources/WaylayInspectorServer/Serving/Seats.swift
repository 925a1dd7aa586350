import WaylayCore

/// The places for pages that listen: so many, and no more.
final class Seats: Sendable {
  private let free: Locked<Int>

  init(_ count: Int) {
    free = Locked(max(1, count))
  }

  /// One place, while it is held; `nil` when all are taken.
  func take() -> Seat? {
    let isTaken = free.withLock { free in
      guard free > 0 else { return false }
      free -= 1
      return true
    }
    return isTaken ? Seat(self) : nil
  }

  final class Seat: Sendable {
    private let seats: Seats

    fileprivate init(_ seats: Seats) {
      self.seats = seats
    }

    deinit {
      seats.free.withLock { $0 += 1 }
    }
  }
}
