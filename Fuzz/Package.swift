// swift-tools-version: 6.2
import PackageDescription

/// The same language as in the package itself, and libFuzzer with the address sanitizer around it.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  // As the package's trait of that name does.
  .define("Cryptography"),
  .unsafeFlags(["-sanitize=fuzzer,address", "-parse-as-library"]),
]
let linking: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer,address"])]

/// A target holds links to the sources that it tests, so that what is internal there can be reached.
func fuzzer(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(name: name, dependencies: ["Core", "Driver"] + dependencies, swiftSettings: settings, linkerSettings: linking)
}

let types = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")

let package = Package(
  name: "fuzz",
  platforms: [.macOS(.v13)],
  dependencies: [
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    fuzzer("archive", [types]),
    // What many of them need of WaylayCore.
    .target(name: "Core", dependencies: [types], swiftSettings: settings),
    fuzzer("cookies", [types]),
    .target(name: "Driver", swiftSettings: [.swiftLanguageMode(.v5)]),
    fuzzer("dns"),
    fuzzer("files", [types, crypto]),
    fuzzer("har"),
    fuzzer("heads", [types]),
    fuzzer("hosts", [crypto]),
    fuzzer("journal"),
    fuzzer("queries"),
    fuzzer("ranges"),
  ]
)
