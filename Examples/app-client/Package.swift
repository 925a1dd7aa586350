// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "app-client",
  platforms: [.macOS(.v13), .iOS(.v16)],
  products: [.library(name: "Shop", targets: ["Shop"])],
  dependencies: [
    .package(name: "waylay", path: "../..")
  ],
  targets: [
    .target(
      name: "Shop",
      dependencies: [
        .product(name: "WaylayArchive", package: "waylay"), .product(name: "WaylayInterceptors", package: "waylay"),
      ]),
    .testTarget(name: "ShopTests", dependencies: ["Shop", .product(name: "WaylayTesting", package: "waylay")]),
  ]
)
