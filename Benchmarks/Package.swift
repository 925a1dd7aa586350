// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v13)],
  dependencies: [
    .package(name: "waylay", path: ".."),
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
  ],
  targets: [
    .target(
      name: "Scenarios",
      dependencies: [
        .product(name: "Waylay", package: "waylay"),
        .product(name: "_TestOrigin", package: "waylay"),
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
