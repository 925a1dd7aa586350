// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "calling-server",
  platforms: [.macOS(.v14)],
  dependencies: [
    .package(name: "waylay", path: "../.."),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
  ],
  targets: [
    .target(
      name: "Forecasts",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "WaylayArchive", package: "waylay"),
        .product(name: "WaylayInterceptors", package: "waylay"),
      ]),
    .executableTarget(name: "calling-server", dependencies: ["Forecasts"]),
    .testTarget(
      name: "ForecastsTests", dependencies: ["Forecasts", .product(name: "WaylayTesting", package: "waylay")]),
  ]
)
