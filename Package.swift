// swift-tools-version: 6.2
import PackageDescription

// To add a library: a line here, and the folder Sources/NAME. `needs` has targets of this package and products of others, which
// `dependencies` knows; `guarded` has those that are there with a trait.

/// Modules with a PrivacyInfo.xcprivacy (Scripts/privacy.py). Resources have no condition by platform, and on Linux they would make a bundle.
let privacyManifests = ["WaylayArchive", "WaylayBase", "WaylayHosts", "WaylayInspector"]
#if os(macOS)
  let isForApple = true
#else
  let isForApple = Context.environment["WAYLAY_APPLE_MANIFEST"] != nil
#endif

let libraries: [Target] = [
  module("Waylay", needs: ["WaylayArchive", "WaylayCore", "WaylayHosts", "WaylayMocks"]),
  module(
    "WaylayArchive",
    needs: [
      .target(name: "CWaylaySQLite", condition: .when(platforms: [.linux, .android])), "WaylayCore",
      "DequeModule", "HTTPTypes", "Logging", "OrderedCollections",
    ],
    guarded: ["Cryptography": ["Crypto"], "StructuredFields": ["RawStructuredFieldValues"]]),
  module(
    "WaylayAsyncHTTPClient", needs: ["WaylayCore", "HTTPTypes", "Logging"],
    guarded: [
      "AsyncHTTPClient": ["AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOHTTPCompression", "NIOPosix", "NIOSSL"]
    ]),
  module(
    "WaylayCore",
    needs: [
      .target(name: "CWaylayCurl", condition: .when(platforms: [.linux, .android])), "WaylayBase",
      "DequeModule", "HTTPTypes", "HeapModule", "Logging",
    ]),
  module("WaylayHAR", needs: ["WaylayBase"]),
  module("WaylayHosts", needs: ["WaylayCore", "HTTPTypes", "Logging", "OrderedCollections"]),
  // Scripts/page.sh puts the page into a Swift file: a library then has it without a bundle.
  module(
    "WaylayInspector", needs: ["WaylayCore", "WaylayHAR", "WaylayRecording", "DequeModule", "Logging"],
    exclude: ["Page/Readable"]),
  module(
    "WaylayInspectorServer", needs: ["WaylayCore", "WaylayHAR", "WaylayInspector", "Logging"],
    guarded: ["InspectorServer": ["NIOCore", "NIOHTTP1", "NIOPosix"]]),
  module(
    "WaylayInterceptors", needs: ["WaylayCore", "WaylayHAR", "HTTPTypes", "Logging"],
    guarded: ["Metrics": ["CoreMetrics"], "Tracing": ["Tracing"]]),
  module(
    "WaylayMocks", needs: ["WaylayCore", "WaylayHAR", "WaylayRecording", "HTTPTypes", "IssueReporting", "Logging"]),
  module(
    "WaylayRemote", needs: ["WaylayInspector", "WaylayInterceptors", "WaylayRemoteControl", "HTTPTypes"],
    guarded: ["InspectorServer": ["NIOCore", "NIOHTTP1", "NIOPosix"]]),
  module("WaylayRemoteControl", needs: ["WaylayHAR", "WaylayMocks"]),
  module(
    "WaylayTesting",
    needs: [
      "WaylayCore", "WaylayHAR", "WaylayMocks", "WaylayRecording", "WaylayRemoteControl", "IssueReporting",
      "IssueReportingTestSupport",
    ],
    guarded: ["AsyncHTTPClient": ["WaylayAsyncHTTPClient"]]),
  module(
    "WaylayTunnel",
    needs: [
      "WaylayCore", "WaylayHosts", "Logging",
      .product(
        name: "NIOTransportServices", package: "swift-nio-transport-services",
        condition: .when(platforms: [.macOS, .iOS, .tvOS, .visionOS], traits: ["Tunnel"])),
    ],
    guarded: ["Tunnel": ["NIOCore", "NIOPosix"]]),
  module("WaylayWebView", needs: ["WaylayCore"]),
]

/// Targets without a product of their own, and the program.
let modules: [Target] = [
  // The functions of libcurl and SQLite, found at run time: the build needs no header and no library. Empty on Apple platforms.
  .target(name: "CWaylayCurl"),
  .target(name: "CWaylaySQLite"),
  module("WaylayBase"),
  module("WaylayRecording", needs: ["WaylayCore", "WaylayHAR"]),
  // The command-line tool: the one product that needs the argument parser.
  program(
    "WaylayTool",
    needs: [
      "WaylayArchive", "WaylayCore", "WaylayHAR", "WaylayHosts", "WaylayInspector", "WaylayInspectorServer",
      "WaylayMocks", "WaylayRecording", "WaylayRemoteControl", "WaylayTunnel", "Logging",
    ],
    guarded: ["CommandLineTool": ["ArgumentParser"], "Cryptography": ["Crypto"]], exclude: ["Manual"]),
  // Says how many tests run at a time, before Testing asks.
  .target(name: "CTestWidth", path: "Tests/Support/CTestWidth"),
  .target(name: "CTestVFS", path: "Tests/Support/CTestVFS"),
  // A resolver that lies about the names it is told to lie about, for what shows that hijacks are survived. Empty on Apple platforms.
  .target(name: "CLyingResolver", path: "Tests/Support/CLyingResolver"),
  module("HijackLab", in: "Tests/Support", needs: ["TestOrigin"]),
  module("StoreFaults", in: "Tests/Support", needs: ["CTestVFS", "WaylayArchive", "WaylayCore"]),
  module(
    "TestOrigin", in: "Tests/Support",
    needs: [
      "Crypto", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOHTTP2", "NIOPosix", "NIOSSL", "NIOTLS",
      "SwiftASN1", "X509",
    ]),
  module(
    "TestSupport", in: "Tests/Support",
    needs: ["CTestWidth", "TestOrigin", "WaylayCore", "WaylayHAR", "IssueReporting", "Logging"]),
  // The core's files for Apple platforms, built on Linux with a twin of Platform/Apple/Darwin.swift; a model of Apple's loading system drives it.
  .target(
    name: "AppleCore", dependencies: dependencies(["WaylayBase", "HTTPTypes", "Logging"]),
    path: "Tests/AppleModel/Core", exclude: ["WaylayCore/Platform/Linux"],
    swiftSettings: settings() + [.define("WAYLAY_APPLE_MODEL")]),
  module("AppleModel", in: "Tests/AppleModel", needs: ["AppleCore"]),
  program("apple-model", in: "Tests/AppleModel", needs: ["AppleModel", "ArgumentParser"]),
]

/// Programs to read, and those for what a test cannot check.
let programs: [Target] = [
  program(
    "remote-control", in: "Examples",
    needs: ["WaylayInspector", "WaylayInterceptors", "WaylayMocks", "WaylayRemote", "WaylayRemoteControl"]),
  program(
    "surviving-hijacks", in: "Examples",
    needs: ["CLyingResolver", "HijackLab", "TestOrigin", "Waylay", "WaylayCore", "WaylayHosts", "ArgumentParser"]),
  program("tour", in: "Examples", needs: ["CLyingResolver", "HijackLab", "TestOrigin", "Waylay", "WaylayInspector"]),
  program(
    "archive-torture", in: "Tests/Harnesses", needs: ["StoreFaults", "WaylayArchive", "WaylayCore", "ArgumentParser"]),
  program("exits", in: "Tests/Harnesses", needs: ["TestOrigin", "WaylayCore", "ArgumentParser"]),
  program("inspector-sizes", in: "Tests/Harnesses", needs: ["WaylayCore", "WaylayInspector", "ArgumentParser"]),
  program("plain-session", in: "Tests/Harnesses"),
  program("stress", in: "Tests/Harnesses", needs: ["TestOrigin", "Waylay", "WaylayCore", "ArgumentParser"]),
  program("walk", in: "Tests/Harnesses", needs: ["TestOrigin", "WaylayCore"]),
]

let tests: [Target] = [
  tests("AppleModel", needs: ["AppleCore", "AppleModel", "TestSupport"]),
  tests(
    "Documentation",
    needs: [
      "TestSupport", "Waylay", "WaylayAsyncHTTPClient", "WaylayHAR", "WaylayInspector", "WaylayInspectorServer",
      "WaylayTesting", "AsyncHTTPClient", "NIOCore",
    ], exclude: ["Cassettes"]),
  // What mocks, cassettes, archive and inspector do, through each door that there is.
  tests(
    "Door",
    needs: [
      "TestOrigin", "TestSupport", "WaylayArchive", "WaylayAsyncHTTPClient", "WaylayCore", "WaylayHAR", "WaylayHosts",
      "WaylayInspector", "WaylayInterceptors", "WaylayMocks", "WaylayRemote", "WaylayRemoteControl", "WaylayTesting",
      "AsyncHTTPClient", "Logging", "NIOCore", "NIOHTTP1",
    ]),
  tests(
    "Examples",
    needs: [
      "TestSupport", "archive-torture", "exits", "inspector-sizes", "stress", "surviving-hijacks", "tour",
    ]),
  tests(
    "TestOrigin",
    needs: [
      "TestOrigin", "TestSupport", "Crypto", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOHTTP2", "NIOPosix",
      "NIOSSL", "NIOTLS",
    ]),
  tests(of: "WaylayArchive", needs: ["StoreFaults", "WaylayCore", "Crypto"]),
  tests(
    of: "WaylayAsyncHTTPClient",
    needs: ["WaylayCore", "AsyncHTTPClient", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL"]),
  tests(of: "WaylayBase", needs: ["WaylayHAR"]),
  tests(of: "WaylayCore", needs: ["Crypto"]),
  tests(of: "WaylayHAR"),
  tests(of: "WaylayHosts", needs: ["HijackLab", "WaylayCore"]),
  tests(of: "WaylayInspector", needs: ["WaylayArchive", "WaylayCore", "WaylayHAR", "WaylayHosts", "WaylayMocks"]),
  tests(of: "WaylayInspectorServer", needs: ["WaylayCore", "WaylayHAR", "WaylayInspector", "NIOCore", "NIOPosix"]),
  tests(
    of: "WaylayInterceptors",
    needs: [
      "WaylayCore", "WaylayHAR", "WaylayMocks", "CoreMetrics", "InMemoryTracing", "Logging", "MetricsTestKit",
      "Tracing",
    ]),
  tests(of: "WaylayMocks", needs: ["WaylayCore", "WaylayHAR", "IssueReporting"], exclude: ["Cassettes/Samples"]),
  tests(of: "WaylayRecording", needs: ["WaylayCore", "WaylayHAR"]),
  tests(
    of: "WaylayRemote",
    needs: [
      "remote-control", "WaylayCore", "WaylayHAR", "WaylayInspector", "WaylayInterceptors", "WaylayMocks",
      "WaylayRemoteControl", "WaylayTesting", "NIOCore", "NIOHTTP1",
    ]),
  tests(of: "WaylayTesting", needs: ["WaylayCore", "WaylayHAR", "WaylayMocks"], exclude: ["Scopes/Cassettes"]),
  tests(of: "WaylayTool", needs: ["WaylayArchive", "WaylayCore", "WaylayHAR", "WaylayMocks", "Crypto"]),
  tests(of: "WaylayTunnel", needs: ["HijackLab", "WaylayCore", "WaylayHosts", "plain-session", "NIOCore", "NIOPosix"]),
]

let package = Package(
  name: "waylay",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: libraries.map { .library(name: $0.name, targets: [$0.name]) } + [
    // Not named like its target: where letter case does not count, a module `waylay` would be `Waylay`.
    .executable(name: "waylay", targets: ["WaylayTool"])
  ],
  // None is on by default: a dependent fetches and compiles what a trait guards only if it asks for it (Scripts/dependents.sh counts). A condition
  // names one trait, and a trait that needs another enables it. The package's own commands use --enable-all-traits, always.
  traits: [
    .trait(name: "AsyncHTTPClient", description: "The product WaylayAsyncHTTPClient, by async-http-client"),
    .trait(
      name: "CommandLineTool", description: "The program `waylay`, by swift-argument-parser",
      enabledTraits: ["Cryptography", "InspectorServer", "Tunnel"]),
    .trait(name: "Cryptography", description: "Encrypted archives, by swift-crypto"),
    .trait(name: "InspectorServer", description: "The product WaylayInspectorServer, by swift-nio"),
    .trait(name: "Metrics", description: "Durations of requests for swift-metrics"),
    .trait(
      name: "StructuredFields",
      description: "Cache groups, No-Vary-Search and Cache-Status, by swift-http-structured-headers"),
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
  ],
  targets: libraries + modules + programs + tests
)

func settings() -> [SwiftSetting] {
  var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
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
  return settings
}

/// Dependencies by name: targets of this package, and products with the package that has them.
func dependencies(_ needs: [Target.Dependency], _ guarded: [String: [String]] = [:]) -> [Target.Dependency] {
  let packages = [
    "async-http-client": ["AsyncHTTPClient"], "swift-argument-parser": ["ArgumentParser"],
    "swift-asn1": ["SwiftASN1"], "swift-certificates": ["X509"],
    "swift-collections": ["DequeModule", "HeapModule", "OrderedCollections"], "swift-crypto": ["Crypto"],
    "swift-distributed-tracing": ["InMemoryTracing", "Tracing"],
    "swift-http-structured-headers": ["RawStructuredFieldValues"], "swift-http-types": ["HTTPTypes"],
    "swift-log": ["Logging"], "swift-metrics": ["CoreMetrics", "MetricsTestKit"],
    "swift-nio": ["NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOTLS"],
    "swift-nio-extras": ["NIOHTTPCompression"], "swift-nio-http2": ["NIOHTTP2"], "swift-nio-ssl": ["NIOSSL"],
    "xctest-dynamic-overlay": ["IssueReporting", "IssueReportingTestSupport"],
  ]
  func find(_ name: String, _ condition: TargetDependencyCondition? = nil) -> Target.Dependency {
    if let package = packages.first(where: { $0.value.contains(name) })?.key {
      .product(name: name, package: package, condition: condition)
    } else {
      condition == nil ? .byName(name: name) : .target(name: name, condition: condition)
    }
  }
  return needs.map { if case .byNameItem(let name, nil) = $0 { find(name) } else { $0 } }
    + guarded.sorted { $0.key < $1.key }.flatMap { trait, names in names.map { find($0, .when(traits: [trait])) }
    }
}

func module(
  _ name: String, in folder: String = "Sources", needs: [Target.Dependency] = [], guarded: [String: [String]] = [:],
  exclude: [String] = []
) -> Target {
  let manifest = privacyManifests.contains(name) ? ["PrivacyInfo.xcprivacy"] : []
  return .target(
    name: name, dependencies: dependencies(needs, guarded), path: folder + "/" + name,
    exclude: exclude + (isForApple ? [] : manifest), resources: isForApple ? manifest.map { .copy($0) } : [],
    // WaylayRemote has the listener of WaylayInspectorServer, by a link, in debug builds alone.
    swiftSettings: settings() + (name == "WaylayRemote" ? [.define("NO_SERVER", .when(configuration: .release))] : []))
}

func program(
  _ name: String, in folder: String = "Sources", needs: [Target.Dependency] = [], guarded: [String: [String]] = [:],
  exclude: [String] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies(needs, guarded), path: folder + "/" + name, exclude: exclude,
    swiftSettings: settings())
}

func tests(_ name: String, needs: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(name: name + "Tests", dependencies: dependencies(needs), exclude: exclude, swiftSettings: settings())
}

func tests(of library: String, needs: [Target.Dependency] = [], exclude: [String] = []) -> Target {
  tests(library, needs: ["TestOrigin", "TestSupport", .byName(name: library)] + needs, exclude: exclude)
}
