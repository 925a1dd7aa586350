import Foundation

// `URLProtocol` is used as a class, so isolation needs a class per installation. A generic subclass is a class of its
// own for each type argument, and type arguments can be made at run time by opening an existential (platform fact P12):
// the number of an installation is written in binary as a nest of types. A class costs about 1 kB and some
// microseconds, and is never freed.

/// A number written as a type.
protocol TypeNumber {}

/// Zero, where every number begins.
enum NoBits: TypeNumber {}

/// A number with a 0 appended.
enum ZeroBit<Rest: TypeNumber>: TypeNumber {}

/// A number with a 1 appended.
enum OneBit<Rest: TypeNumber>: TypeNumber {}

/// The protocol classes of the process, and the installation each stands for.
enum ProtocolClasses {
  private struct State {
    var installations: [ObjectIdentifier: Installation] = [:]
    /// Who hears of the requests that come to a class without an installation.
    var listeners: [ObjectIdentifier: InterceptorRegistry.LateListener] = [:]
    var last: UInt64 = 0
  }

  // Global by nature: the loading system hands us a class, never an object. Nothing here is shared between classes but
  // the table.
  private static let state = Locked(State())

  /// Makes a class of its own for an installation and holds the installation until ``remove(_:)``.
  static func make(for installation: Installation) -> URLProtocol.Type {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    let made = protocolClass(type(for: number))
    state.withLock { $0.installations[ObjectIdentifier(made)] = installation }
    return made
  }

  /// The installation of a class; `nil` once its registry is invalidated. Numbers, and so classes, are never reused.
  static func installation(of protocolClass: URLProtocol.Type) -> Installation? {
    let key = ObjectIdentifier(protocolClass)
    return state.withLock { $0.installations[key] }
  }

  /// Lets go of the installation of a class.
  static func remove(_ protocolClass: URLProtocol.Type, leaving listener: InterceptorRegistry.LateListener?) {
    let key = ObjectIdentifier(protocolClass)
    let removed = state.withLock { state in
      if let listener { state.listeners[key] = listener }
      return state.installations.removeValue(forKey: key)
    }
    // What it holds is let go without the lock.
    _ = removed
  }

  /// Says that a request came to a class whose registry is invalidated.
  static func tellLate(_ request: URLRequest, to protocolClass: URLProtocol.Type) {
    let key = ObjectIdentifier(protocolClass)
    state.withLock { $0.listeners[key] }?(request)
  }

  private static func type(for number: UInt64) -> any TypeNumber.Type {
    var result: any TypeNumber.Type = NoBits.self
    for bit in (0..<(UInt64.bitWidth - number.leadingZeroBitCount)).reversed() {
      result = appending(number >> bit & 1 == 1, to: result)
    }
    return result
  }

  private static func appending<Rest: TypeNumber>(_ bit: Bool, to rest: Rest.Type) -> any TypeNumber.Type {
    bit ? OneBit<Rest>.self : ZeroBit<Rest>.self
  }

  private static func protocolClass<Number: TypeNumber>(_ number: Number.Type) -> URLProtocol.Type {
    NumberedProtocol<Number>.self
  }
}

/// The protocol class of one installation.
final class NumberedProtocol<Number: TypeNumber>: InterceptingProtocol {}
