// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "policy-benchmarks",
    dependencies: [
        .package(name: "larder", path: "../../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "CLoop", path: "CLoop", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "policies",
            dependencies: [
                "CLoop", .product(name: "_ItemPolicies", package: "larder"),
                .product(name: "Logging", package: "swift-log"),
            ], path: "Sources",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"), .treatAllWarnings(as: .error),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
