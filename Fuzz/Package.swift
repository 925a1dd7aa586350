// swift-tools-version: 6.2
import PackageDescription

/// The same language as in the package itself, and libFuzzer with the address sanitizer around it.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .unsafeFlags(["-sanitize=fuzzer,address", "-parse-as-library"]),
]
let linking: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer,address"])]

// Each target holds links to the sources that it tests, so that what is internal there can be reached.
let package = Package(
  name: "fuzz",
  platforms: [.macOS(.v13)],
  dependencies: [.package(url: "https://github.com/apple/swift-http-types", from: "1.8.0")],
  targets: [
    .executableTarget(
      name: "archive", dependencies: ["Driver", .product(name: "HTTPTypes", package: "swift-http-types")], swiftSettings: settings,
      linkerSettings: linking),
    .target(name: "Driver", swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(name: "dns", dependencies: ["Driver"], swiftSettings: settings, linkerSettings: linking),
    .executableTarget(name: "journal", dependencies: ["Driver"], swiftSettings: settings, linkerSettings: linking),
  ]
)
