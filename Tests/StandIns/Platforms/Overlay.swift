// What Swift's own module for a C library adds to the headers, for `Scripts/platforms.sh`: type-checked against, never linked. Own work, after the
// names and types of https://github.com/swiftlang/swift/blob/main/stdlib/public/Platform/Platform.swift.
@_exported import SwiftGlibc

public var errno: Int32 {
  get { 0 }
  set {}
}

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { 0 }
public func openat(_ directory: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { 0 }
public func openat(_ directory: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { 0 }
public func fcntl(_ file: Int32, _ command: Int32, _ value: Int32) -> Int32 { 0 }

public var S_IFMT: mode_t { 0o170000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IWGRP: mode_t { 0o000020 }
public var S_IWOTH: mode_t { 0o000002 }
public var S_ISVTX: mode_t { 0o001000 }
