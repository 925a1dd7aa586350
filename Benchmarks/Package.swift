// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v13)],
  dependencies: [
    .package(name: "waylay", path: "..", traits: ["CommandLineTool", "Metrics", "Tracing"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []),
  ],
  targets: [
    .target(name: "CurlAlone"),
    .target(
      name: "Scenarios",
      dependencies: [
        "CurlAlone", "TestOrigin",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Waylay", package: "waylay"),
        // The program, which the scenario of an agent runs.
        .product(name: "waylay", package: "waylay"),
        .product(name: "WaylayArchive", package: "waylay"),
        .product(name: "WaylayCore", package: "waylay"),
        .product(name: "WaylayInspector", package: "waylay"),
        .product(name: "WaylayInterceptors", package: "waylay"),
      ]),
    // A link to the sources: were it a product of Waylay, every app that depends on Waylay would fetch what it depends
    // on.
    .target(
      name: "TestOrigin",
      dependencies: [
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
        .product(name: "X509", package: "swift-certificates"),
      ]),
    .executableTarget(
      name: "ratios",
      dependencies: ["Scenarios", .product(name: "ArgumentParser", package: "swift-argument-parser")]),
    .executableTarget(
      name: "Loads",
      dependencies: ["Scenarios", .product(name: "Benchmark", package: "benchmark")],
      path: "Benchmarks/Loads",
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
  ]
)
