// swift-tools-version: 6.2
import PackageDescription

var settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  // A link of a chain runs where its caller runs: no switch of executors at each call and return.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  // Which Foundation there is, said here alone: swift-corelibs-foundation, whose URL loading system is a module of its own, or Apple's.
  .define("CORELIBS_FOUNDATION", .when(platforms: [.linux, .android, .windows])),
]

// `Scripts/check.sh` sets this; a package with unsafe flags could not be depended on.
if Context.environment["WAYLAY_STRICT"] != nil {
  settings += [.treatAllWarnings(as: .error), .unsafeFlags(["-require-explicit-sendable"])]
}

// `Scripts/fuzz.sh` sets this: the parsers of outside data are then built for the fuzz targets, in a package of their own, to reach.
if Context.environment["WAYLAY_FUZZ"] != nil {
  settings += [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])]
}

let crypto = Target.Dependency.product(
  name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Cryptography"]))

let package = Package(
  name: "waylay",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "Waylay", targets: ["Waylay"]),
    .library(name: "WaylayArchive", targets: ["WaylayArchive"]),
    .library(name: "WaylayAsyncHTTPClient", targets: ["WaylayAsyncHTTPClient"]),
    .library(name: "WaylayCore", targets: ["WaylayCore"]),
    .library(name: "WaylayHAR", targets: ["WaylayHAR"]),
    .library(name: "WaylayHosts", targets: ["WaylayHosts"]),
    .library(name: "WaylayInspector", targets: ["WaylayInspector"]),
    .library(name: "WaylayInspectorServer", targets: ["WaylayInspectorServer"]),
    .library(name: "WaylayInterceptors", targets: ["WaylayInterceptors"]),
    .library(name: "WaylayMocks", targets: ["WaylayMocks"]),
    .library(name: "WaylayTesting", targets: ["WaylayTesting"]),
    .library(name: "WaylayTunnel", targets: ["WaylayTunnel"]),
    .library(name: "WaylayWebView", targets: ["WaylayWebView"]),
    // Not named like its target: where letter case does not count, a module `waylay` would be `Waylay`.
    .executable(name: "waylay", targets: ["WaylayTool"]),
  ],
  // None is on by default: a dependent fetches and compiles what a trait guards only if it asks for it (Scripts/dependents.sh counts). A condition
  // names one trait, and a trait that needs another enables it. The package's own commands use --enable-all-traits, always.
  traits: [
    .trait(name: "AsyncHTTPClient", description: "The product WaylayAsyncHTTPClient, by async-http-client"),
    .trait(
      name: "CommandLineTool", description: "The program `waylay`, by swift-argument-parser",
      enabledTraits: ["Cryptography", "InspectorServer", "Tunnel"]),
    .trait(
      name: "Cryptography", description: "Encrypted archives, signed lists of hosts and signed requests, by swift-crypto"),
    .trait(name: "InspectorServer", description: "The product WaylayInspectorServer, by swift-nio"),
    .trait(name: "Metrics", description: "Durations of requests for swift-metrics"),
    .trait(
      name: "StructuredFields", description: "Cache groups, No-Vary-Search and Cache-Status, by swift-http-structured-headers"),
    .trait(name: "Tracing", description: "Spans of requests for swift-distributed-tracing"),
    .trait(name: "Tunnel", description: "The product WaylayTunnel, by swift-nio"),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.26.0"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/apple/swift-nio-transport-services", from: "1.28.0"),
    .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", from: "1.13.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
  ],
  targets: [
    .target(
      name: "Waylay",
      dependencies: ["WaylayArchive", "WaylayCore", "WaylayHosts", "WaylayMocks"],
      path: ".",
      // The documentation plug-in finds a catalog only among a target's sources, hence the root as path. `Scripts/check.sh` fails when
      // a top-level entry is missing here.
      exclude: [
        "Benchmarks", "CHANGELOG.md", "CONTRIBUTING.md", "Evidence", "Examples", "FOUNDATION.md", "Fuzz", "LICENSE",
        "README.md", "SECURITY.md", "Scripts", "Sources/CWaylayCurl", "Sources/WaylayArchive", "Sources/WaylayAsyncHTTPClient",
        "Sources/WaylayBase",
        "Sources/WaylayCore",
        "Sources/WaylayCredentials", "Sources/WaylayDrift", "Sources/WaylayHAR", "Sources/WaylayHosts",
        "Sources/WaylayInspector", "Sources/WaylayInspectorServer",
        "Sources/WaylayInterceptors", "Sources/WaylayMocks", "Sources/WaylayRecording", "Sources/WaylayTesting",
        "Sources/WaylayTool",
        "Sources/WaylayTunnel", "Sources/WaylayWebView", "Tests",
      ],
      sources: ["Sources/Waylay"],
      swiftSettings: settings),
    // The functions of libcurl, found at run time: no header and no library is needed to build it. Empty on Apple platforms.
    .target(name: "CWaylayCurl"),
    .target(
      name: "WaylayCore",
      dependencies: [
        .target(name: "CWaylayCurl", condition: .when(platforms: [.linux, .android])),
        "WaylayBase", "WaylayCredentials",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HeapModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .target(
      name: "WaylayArchive",
      dependencies: [
        "WaylayCore", "WaylayHAR",
        crypto,
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "OrderedCollections", package: "swift-collections"),
        .product(
          name: "RawStructuredFieldValues", package: "swift-http-structured-headers", condition: .when(traits: ["StructuredFields"])),
      ],
      swiftSettings: settings),
    // What every module needs and no user sees. No product.
    .target(name: "WaylayBase", swiftSettings: settings),
    // Chains over AsyncHTTPClient, and beneath it: the transport, and the door for code that calls it.
    .target(
      name: "WaylayAsyncHTTPClient",
      dependencies: [
        "WaylayCore",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOHTTPCompression", package: "swift-nio-extras", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPClient"])),
      ],
      swiftSettings: settings),
    // The names that carry credentials. No product.
    .target(name: "WaylayCredentials", swiftSettings: settings),
    // How two recordings of the same requests differ in shape: for tests and the tool. No product.
    .target(name: "WaylayDrift", dependencies: ["WaylayHAR"], swiftSettings: settings),
    // The format alone: what reads and writes archives of traffic needs no other package.
    .target(name: "WaylayHAR", dependencies: ["WaylayCredentials"], swiftSettings: settings),
    .target(
      name: "WaylayHosts",
      dependencies: [
        "WaylayCore", "WaylayCredentials", "WaylayHAR",
        crypto,
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "OrderedCollections", package: "swift-collections"),
      ],
      swiftSettings: settings),
    .target(
      name: "WaylayInspector",
      dependencies: [
        "WaylayCore", "WaylayHAR", "WaylayRecording",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ],
      // Scripts/page.sh puts these into a Swift file: a library then has its page without a bundle.
      exclude: ["Page/Readable"],
      swiftSettings: settings),
    // Ready-made links, written with what is public of the core.
    .target(
      name: "WaylayInterceptors",
      dependencies: [
        "WaylayCore", "WaylayHAR",
        .product(
          name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Cryptography"])),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
      ],
      swiftSettings: settings),
    .target(
      name: "WaylayMocks",
      dependencies: [
        "WaylayCore", "WaylayHAR", "WaylayRecording",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "IssueReporting", package: "xctest-dynamic-overlay"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: settings),
    .target(
      name: "WaylayInspectorServer",
      dependencies: [
        "WaylayCore", "WaylayHAR", "WaylayInspector",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["InspectorServer"])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["InspectorServer"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["InspectorServer"])),
      ],
      swiftSettings: settings),
    // Messages of the core as entries of an HTTP archive, and back: for whatever records and plays back. No product.
    .target(name: "WaylayRecording", dependencies: ["WaylayCore", "WaylayHAR"], swiftSettings: settings),
    .target(
      name: "WaylayTunnel",
      dependencies: [
        "WaylayCore", "WaylayHosts",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Tunnel"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Tunnel"])),
        .product(
          name: "NIOTransportServices", package: "swift-nio-transport-services",
          condition: .when(platforms: [.macOS, .iOS, .tvOS, .visionOS], traits: ["Tunnel"])),
      ],
      swiftSettings: settings),
    // Archived and answered pages in a WKWebView. Empty where there is none.
    .target(name: "WaylayWebView", dependencies: ["WaylayCore"], swiftSettings: settings),
    // For test targets alone: the umbrella does not re-export it.
    .target(
      name: "WaylayTesting",
      dependencies: [
        .target(name: "WaylayAsyncHTTPClient", condition: .when(traits: ["AsyncHTTPClient"])),
        "WaylayCore", "WaylayDrift", "WaylayHAR", "WaylayMocks",
        .product(name: "IssueReporting", package: "xctest-dynamic-overlay"),
        .product(name: "IssueReportingTestSupport", package: "xctest-dynamic-overlay"),
      ],
      swiftSettings: settings),
    // The command-line tool: the one product that needs the argument parser.
    .executableTarget(
      name: "WaylayTool",
      dependencies: [
        "WaylayArchive", "WaylayCore", "WaylayDrift", "WaylayHAR", "WaylayHosts", "WaylayInspector",
        "WaylayInspectorServer", "WaylayMocks", "WaylayTunnel",
        .product(
          name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["CommandLineTool"])),
        crypto,
        .product(name: "Logging", package: "swift-log"),
      ],
      exclude: ["Manual"],
      swiftSettings: settings),
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
      ],
      path: "Tests/TestOrigin",
      swiftSettings: settings),
    // A resolver that lies about the names it is told to lie about, for what shows that hijacks are survived. Empty on Apple platforms.
    .target(name: "CLyingResolver", path: "Tests/CLyingResolver"),
    // Hijackers of every kind on loopback, for tests and examples.
    .target(name: "HijackLab", dependencies: ["TestOrigin"], path: "Tests/HijackLab", swiftSettings: settings),
    .executableTarget(
      name: "archive-torture",
      dependencies: [
        "StoreFaults", "WaylayArchive", "WaylayCore",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Harnesses/archive-torture",
      swiftSettings: settings),
    .executableTarget(
      name: "exits",
      dependencies: ["TestOrigin", "WaylayCore", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Tests/Harnesses/exits",
      swiftSettings: settings),
    .executableTarget(
      name: "hijack-lab",
      dependencies: [
        "CLyingResolver", "HijackLab", "TestOrigin", "Waylay", "WaylayCore", "WaylayHosts",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Examples/hijack-lab",
      swiftSettings: settings),
    .executableTarget(
      name: "hostile-origin",
      dependencies: [
        "TestOrigin", "Waylay", "WaylayCore", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Harnesses/hostile-origin",
      swiftSettings: settings),
    .executableTarget(
      name: "stress",
      dependencies: [
        "TestOrigin", "Waylay", "WaylayCore", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Harnesses/stress",
      swiftSettings: settings),
    // A tunnel alone, for Scripts/tunnel_cost.py.
    .executableTarget(
      name: "tunnel-cost", dependencies: ["WaylayHosts", "WaylayTunnel"], path: "Tests/Harnesses/tunnel-cost", swiftSettings: settings),
    // A plain URLSession, for what carries it without its knowing.
    .executableTarget(name: "plain-session", path: "Tests/Harnesses/plain-session", swiftSettings: settings),
    .executableTarget(
      name: "offline-reader",
      dependencies: [
        "TestOrigin", "Waylay", "WaylayCore", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Examples/offline-reader",
      swiftSettings: settings),
    // An inspector at full size.
    .executableTarget(
      name: "inspector-sizes",
      dependencies: [
        "WaylayCore", "WaylayInspector", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Harnesses/inspector-sizes",
      swiftSettings: settings),
    // Three requests, for a debugger to follow the third.
    .executableTarget(
      name: "walk", dependencies: ["TestOrigin", "WaylayCore"], path: "Tests/Harnesses/walk", swiftSettings: settings),
    .executableTarget(
      name: "tour", dependencies: ["CLyingResolver", "HijackLab", "Waylay", "WaylayInspector", "TestOrigin"],
      path: "Examples/tour",
      swiftSettings: settings),
    // Says how many tests run at a time, before Testing asks.
    .target(name: "CTestWidth", path: "Tests/CTestWidth"),
    // What test targets have in common.
    .target(
      name: "TestSupport",
      dependencies: ["CTestWidth", "TestOrigin", "WaylayCore", "WaylayHAR", .product(name: "Logging", package: "swift-log")],
      path: "Tests/TestSupport",
      swiftSettings: settings),
    // Calls to the system that fail, and a disk that loses what was not synchronized.
    .target(
      name: "StoreFaults", dependencies: ["WaylayArchive", "WaylayCore"], path: "Tests/StoreFaults",
      swiftSettings: settings),
    // The core as it is on Apple platforms, built on Linux: the same files, with the folder Platform/Linux left out and a twin of
    // Platform/Apple/Darwin.swift. What drives it is a model of Apple's loading system. For tests alone.
    .target(
      name: "AppleCore",
      dependencies: [
        "WaylayBase", "WaylayCredentials",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/AppleModel/Core",
      exclude: ["WaylayCore/Platform/Linux"],
      swiftSettings: settings + [.define("WAYLAY_APPLE_MODEL")]),
    .target(
      name: "AppleModel", dependencies: ["AppleCore"], path: "Tests/AppleModel/LoadingSystem", swiftSettings: settings),
    .executableTarget(
      name: "apple-model",
      dependencies: ["AppleModel", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Tests/AppleModel/Run",
      swiftSettings: settings),
    .testTarget(
      name: "AppleModelTests", dependencies: ["AppleCore", "AppleModel", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "TestSupport", "Waylay", "WaylayAsyncHTTPClient", "WaylayHAR", "WaylayInspector", "WaylayInspectorServer",
        "WaylayInterceptors", "WaylayTesting", "WaylayTunnel",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      exclude: ["Cassettes"],
      swiftSettings: settings),
    // What mocks, cassettes, archive and inspector do, through each door that there is.
    .testTarget(
      name: "DoorTests",
      dependencies: [
        "TestOrigin", "TestSupport", "WaylayArchive", "WaylayAsyncHTTPClient", "WaylayCore", "WaylayHAR", "WaylayInspector",
        "WaylayInterceptors", "WaylayMocks", "WaylayTesting",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ExamplesTests",
      dependencies: [
        "TestSupport", "archive-torture", "exits", "hijack-lab", "hostile-origin", "inspector-sizes", "offline-reader",
        "stress",
        "tour",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "TestOriginTests",
      dependencies: [
        "TestOrigin", "TestSupport",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayArchiveTests",
      dependencies: [
        "StoreFaults", "TestOrigin", "TestSupport", "WaylayArchive", "WaylayCore",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayAsyncHTTPClientTests",
      dependencies: [
        "TestOrigin", "TestSupport", "WaylayAsyncHTTPClient", "WaylayCore",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayCoreTests",
      dependencies: ["TestOrigin", "TestSupport", "WaylayCore", .product(name: "Crypto", package: "swift-crypto")],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayHARTests", dependencies: ["TestOrigin", "TestSupport", "WaylayCredentials", "WaylayHAR"],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayHostsTests",
      dependencies: [
        "HijackLab", "TestOrigin", "TestSupport", "WaylayCore", "WaylayHosts",
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayInspectorServerTests",
      dependencies: [
        "TestOrigin", "TestSupport", "WaylayCore", "WaylayHAR", "WaylayInspector", "WaylayInspectorServer",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayInspectorTests",
      dependencies: [
        "TestOrigin", "TestSupport", "WaylayArchive", "WaylayCore", "WaylayHAR", "WaylayHosts", "WaylayInspector",
        "WaylayMocks",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayInterceptorsTests",
      dependencies: [
        "TestOrigin", "TestSupport", "WaylayCore", "WaylayInterceptors", "WaylayMocks",
        crypto,
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayMocksTests",
      dependencies: [
        "TestOrigin", "TestSupport", "WaylayCore", "WaylayHAR", "WaylayMocks",
        .product(name: "IssueReporting", package: "xctest-dynamic-overlay"),
      ],
      exclude: ["Cassettes/Samples"],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayRecordingTests",
      dependencies: ["TestOrigin", "TestSupport", "WaylayCore", "WaylayHAR", "WaylayRecording"], swiftSettings: settings
    ),
    .testTarget(
      name: "WaylayTunnelTests",
      dependencies: [
        "HijackLab", "TestOrigin", "TestSupport", "WaylayCore", "WaylayHosts", "WaylayTunnel", "plain-session",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayToolTests",
      dependencies: [
        "TestOrigin", "TestSupport", "WaylayArchive", "WaylayCore", "WaylayHAR", "WaylayHosts", "WaylayMocks",
        "WaylayTool",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "WaylayTestingTests",
      dependencies: [
        "TestOrigin", "TestSupport", "WaylayCore", "WaylayDrift", "WaylayHAR", "WaylayMocks", "WaylayTesting",
      ],
      exclude: ["Scopes/Cassettes"],
      swiftSettings: settings),
  ]
)
