// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]
let strictC: [CSetting] = [.treatAllWarnings(as: .error)]

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let sqlite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let collections: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")

/// A part of the host: `Host/<name>`.
func host(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Host/\(name)", swiftSettings: strict)
}

/// A first-party plugin: `Plugins/<name>`, a dynamic library that exports its entry symbol alone.
func plugin(_ name: String) -> Target {
    .target(
        name: name, dependencies: ["LarderSDK"], path: "Plugins/\(name)", swiftSettings: strict,
        linkerSettings: [
            .unsafeFlags([
                "-Xlinker", "--version-script=\(Context.packageDirectory)/SDK/C/plugin.map",
                "-Xlinker", "-z", "-Xlinker", "nodelete",
            ]),
            soname("lib\(name).so"),
        ])
}

/// The name that a dynamic library has in itself. Without one it would be the library's path in the build.
func soname(_ name: String) -> LinkerSetting { .unsafeFlags(["-Xlinker", "-soname", "-Xlinker", name]) }

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)",
        swiftSettings: strict)
}

let package = Package(
    name: "larder",
    products: [
        .executable(name: "larder", targets: ["larder"]),
        .executable(name: "larder-demo", targets: ["larder-demo"]),
        .library(name: "LarderSDK", targets: ["LarderSDK"]),
        .library(name: "CLarder", targets: ["CLarder"]),
        .library(name: "LarderFakeHost", type: .dynamic, targets: ["FakeHost"]),
        .library(name: "EventScheduler", targets: ["EventScheduler", "Model"]),
        .library(name: "Warehouse", targets: ["Warehouse"]),
        // For the benchmarks.
        .library(name: "_ItemPolicies", targets: ["Model", "Database", "PluginHost", "ItemPolicies"]),
        .library(name: "AvailableOffline", type: .dynamic, targets: ["AvailableOffline"]),
        .library(name: "DownloadExpiration", type: .dynamic, targets: ["DownloadExpiration"]),
        .library(name: "Vacuum", type: .dynamic, targets: ["Vacuum"]),
        .library(name: "VersionUpdates", type: .dynamic, targets: ["VersionUpdates"]),
        .library(name: "CoreLoop", type: .dynamic, targets: ["CoreLoop"]),
        .library(name: "CalendarLoop", type: .dynamic, targets: ["CalendarLoop"]),
        .library(name: "ShareLoop", type: .dynamic, targets: ["ShareLoop"]),
        .library(name: "Rules", type: .dynamic, targets: ["Rules"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // The ABI and what authors of plugins use.
        .target(
            name: "CLarder", path: "SDK/C", exclude: ["plugin.map", "all-in-one"], publicHeadersPath: "include",
            cSettings: strictC),
        .target(
            name: "LarderSDK", dependencies: ["CLarder"], path: "SDK/Swift",
            swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
        .target(
            name: "LarderFakeHost", dependencies: ["CLarder"], path: "SDK/Testing", sources: ["header.c"],
            publicHeadersPath: "include", cSettings: strictC),
        .target(
            name: "FakeHost",
            dependencies: ["CLarder", "LarderFakeHost", "Model", "LocalTree", "Projects", "PluginHost", logging],
            path: "SDK/Testing/Host", swiftSettings: strict, linkerSettings: [soname("libLarderFakeHost.so")]),

        // The host.
        .systemLibrary(name: "CExpat", path: "Host/CExpat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CCrypto", path: "Host/CCrypto", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "CLinux", path: "Host/CLinux", publicHeadersPath: "include", cSettings: strictC,
            linkerSettings: [.linkedLibrary("resolv")]),
        .target(
            name: "CCurl", path: "Host/CCurl", publicHeadersPath: "include", cSettings: strictC,
            linkerSettings: [.linkedLibrary("curl"), .linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        host("Model"),
        host("Digests", ["CCrypto"]),
        host("Warehouse", ["CLinux", sqlite]),
        host("Threads", ["CLinux", collections]),
        host("HTTP", ["Model", "Threads"]),
        host("Transfer", ["CCurl", "CLinux", "Threads"]),
        host("Database", ["Model", "Threads", grdb, sqlite]),
        host("LocalTree", ["Model", "CLinux", "Threads", "Digests"]),
        host("Vault", ["Model", "CLinux", "Database", "LocalTree", "Digests"]),
        host(
            "Connection",
            [
                "Model", "CExpat", "CLinux", "Threads", "HTTP", "Transfer", "Digests", logging,
            ]),
        host("ItemList", ["Model", "Threads", "Database", "LocalTree", "Connection", logging]),
        host("PluginHost", ["Model", "CLarder", "CLinux", "Threads", "Digests", logging]),
        host("Projects", ["Model", "CLarder", "Warehouse", "PluginHost"]),
        host("EventScheduler", ["Model"]),
        host("ItemPolicies", ["Model", "CLarder", "Threads", "Database", "PluginHost", logging]),
        host(
            "SyncEngine",
            ["Model", "Digests", "Threads", "Database", "LocalTree", "Connection", collections, logging]),
        host(
            "EventLoops",
            ["Model", "CLarder", "Threads", "Database", "Connection", "PluginHost", "EventScheduler", logging]),
        host(
            "Core",
            [
                "Model", "CLarder", "Warehouse", "Threads", "Database", "LocalTree", "Vault", "Connection",
                "ItemList", "PluginHost", "Projects", "ItemPolicies", "SyncEngine", "EventLoops", logging,
            ]),
        host("Validator", ["CLarder", "CLinux", "Model", "Threads", "PluginHost", "FakeHost", "LarderFakeHost"]),
        host("DemoServer", ["Model", "CLinux", "Threads", "Digests", "HTTP", httpTypes]),
        .executableTarget(
            name: "larder",
            dependencies: [
                "Model", "CLinux", "Threads", "HTTP", "Warehouse", "Core", "Validator", arguments, logging, yams,
                "Digests",
            ], path: "Host/CLI", swiftSettings: strict),

        .executableTarget(
            name: "larder-demo", dependencies: ["DemoServer"], path: "Host/DemoProgram", swiftSettings: strict),

        // The plugins.
        plugin("AvailableOffline"),
        plugin("DownloadExpiration"),
        plugin("Vacuum"),
        plugin("VersionUpdates"),
        plugin("CoreLoop"),
        plugin("CalendarLoop"),
        plugin("ShareLoop"),
        plugin("Rules"),

        // The tests. None depends on a plugin: plugins are opened as built.
        // What only tests use is a test target too where it is in Swift, and so no part of a build without tests.
        .testTarget(
            name: "TestSupport", dependencies: ["CSpawn", "Model", logging], path: "Tests/Support",
            exclude: ["CSpawn", "CTLS", "Plugins", "TestServer", "Tree"], swiftSettings: strict),
        .target(name: "CSpawn", path: "Tests/Support/CSpawn", cSettings: strictC),
        .target(
            name: "CTLS", path: "Tests/Support/CTLS", cSettings: strictC,
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .testTarget(
            name: "TestServer", dependencies: ["CTLS", "Model", "Threads", "Digests", "DemoServer", httpTypes],
            path: "Tests/Support/TestServer", swiftSettings: strict),
        .testTarget(
            name: "TreeFixture", dependencies: ["Model", "LocalTree", "TestSupport", "Digests"],
            path: "Tests/Support/Tree", swiftSettings: strict),
        .executableTarget(
            name: "benchmark-server", dependencies: ["DemoServer"], path: "Tests/Benchmarks/Server",
            swiftSettings: strict),
        tests("Model", ["Model"]),
        tests("SDK", ["CLarder", "FakeHost", "LarderFakeHost", "LarderSDK", "Model"]),
        tests("Digests", ["Digests"]),
        tests("Threads", ["Threads"]),
        tests("HTTP", ["Model", "Threads", "HTTP"]),
        tests("Database", ["Model", "Database", grdb, sqlite]),
        tests("LocalTree", ["Model", "LocalTree", "CLinux", "TreeFixture"]),
        tests("Vault", ["Model", "Database", "LocalTree", "Vault", "CLinux", "TreeFixture", grdb, sqlite]),
        tests("Warehouse", ["Warehouse", sqlite]),
        tests(
            "Connection",
            ["Model", "Connection", "DemoServer", "TestServer", "Digests", "Threads", "Transfer", logging]),
        tests("ItemList", ["Model", "Database", "LocalTree", "Vault", "Connection", "ItemList"]),
        tests(
            "PluginHost",
            ["Model", "Threads", "PluginHost", "CLarder", "FakeHost", "LarderFakeHost", "larder", logging]),
        tests(
            "ItemPolicies",
            [
                "Model", "Database", "PluginHost", "ItemPolicies", "CLarder", "FakeHost", "LarderFakeHost", "larder",
                grdb, logging,
            ]),
        tests(
            "EventLoops",
            [
                "Model", "CLarder", "Threads", "Database", "Connection", "PluginHost", "EventLoops", "EventScheduler",
                "DemoServer", "TestServer", "FakeHost", "LarderFakeHost", "larder", logging,
            ]),
        tests(
            "SyncEngine",
            [
                "Model", "Threads", "Database", "LocalTree", "Vault", "Transfer", "Connection", "ItemList",
                "SyncEngine", "DemoServer", "TestServer", logging,
            ]),
        tests("EventScheduler", ["Model", "EventScheduler"]),
        tests(
            "Core",
            [
                "Model", "Warehouse", "Threads", "Database", "LocalTree", "Vault", "Connection", "ItemList",
                "PluginHost", "Projects",
                "Core", "DemoServer", "TestServer", "SyncEngine", "ItemPolicies", "larder", grdb,
                "Transfer", logging,
            ]),
        tests("DemoServer", ["DemoServer", "TestServer"]),
        tests("CLI", ["larder", "Model", "Threads", "HTTP", "Core", "DemoServer", "TestServer", arguments, logging]),
        tests("Acceptance", ["Model", "DemoServer", "TestServer"]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)
