// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "project-benchmarks",
    dependencies: [.package(name: "larder", path: "../../..")],
    targets: [
        .executableTarget(
            name: "projects", dependencies: [.product(name: "Warehouse", package: "larder")], path: "Sources",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"), .treatAllWarnings(as: .error),
            ])
    ],
    swiftLanguageModes: [.v6]
)
