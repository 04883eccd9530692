// swift-tools-version: 6.3
import PackageDescription

// What a plugin needs, without the host and without dependencies: the targets of the package above of the same names.
// Warnings of another compiler do not fail an author's build.
let package = Package(
    name: "larder-sdk",
    products: [
        .library(name: "LarderSDK", targets: ["LarderSDK"]),
        .library(name: "CLarder", targets: ["CLarder"]),
    ],
    targets: [
        .target(name: "CLarder", path: "C", exclude: ["plugin.map", "all-in-one"], publicHeadersPath: "include"),
        .target(
            name: "LarderSDK", dependencies: ["CLarder"], path: "Swift",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableExperimentalFeature("Lifetimes"),
            ]),
    ])
