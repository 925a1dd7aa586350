// swift-tools-version: 6.2
import PackageDescription

/// The same language as in the package itself, and libFuzzer with the address sanitizer around it. The package builds its own libraries the same
/// way, and for `@testable import`, where WAYLAY_FUZZ is set.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .unsafeFlags(["-sanitize=fuzzer,address", "-parse-as-library"]),
]
let linking: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer,address"])]

func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: ["Driver"] + dependencies, swiftSettings: settings, linkerSettings: linking)
}

func library(_ name: String) -> Target.Dependency { .product(name: name, package: "waylay") }

let types = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")

let package = Package(
  name: "fuzz",
  platforms: [.macOS(.v13)],
  dependencies: [
    .package(name: "waylay", path: "..", traits: ["Cryptography"]),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    fuzzer("archive", [library("WaylayArchive"), library("WaylayCore"), types]),
    fuzzer("cookies", [library("WaylayCore"), types]),
    .target(name: "Driver", swiftSettings: [.swiftLanguageMode(.v5)]),
    fuzzer("dns", [library("WaylayCore"), library("WaylayHosts")]),
    fuzzer("files", [library("WaylayArchive"), crypto]),
    fuzzer("har", [library("WaylayHAR")]),
    fuzzer("heads", [library("WaylayCore"), types]),
    fuzzer("hosts", [library("WaylayCore"), library("WaylayHosts")]),
    fuzzer("ranges", [library("WaylayArchive"), library("WaylayCore")]),
  ]
)
