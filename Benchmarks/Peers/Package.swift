// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody fetches or compiles other clients who does not compare with them.
let package = Package(
  name: "peers",
  platforms: [.macOS(.v13)],
  dependencies: [
    .package(name: "waylay", path: "../..", traits: ["AsyncHTTPClient"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .executableTarget(
      name: "peers",
      dependencies: [
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "Waylay", package: "waylay"),
        .product(name: "WaylayAsyncHTTPClient", package: "waylay"),
      ])
  ]
)
