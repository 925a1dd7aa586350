// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "offline-reader",
  platforms: [.macOS(.v13)],
  dependencies: [
    .package(name: "waylay", path: "../..")
  ],
  targets: [
    .target(name: "OfflineReader", dependencies: [.product(name: "WaylayArchive", package: "waylay")]),
    .executableTarget(name: "read-offline", dependencies: ["OfflineReader"]),
    .testTarget(
      name: "OfflineReaderTests", dependencies: ["OfflineReader", .product(name: "WaylayTesting", package: "waylay")]),
  ]
)
