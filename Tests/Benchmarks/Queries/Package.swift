// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "query-benchmarks",
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0")],
    targets: [
        .executableTarget(
            name: "anew", dependencies: [.product(name: "GRDB", package: "GRDB.swift")], path: "Sources",
            swiftSettings: [.treatAllWarnings(as: .error)])
    ],
    swiftLanguageModes: [.v6]
)
