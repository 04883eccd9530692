// swift-tools-version: 6.3
import PackageDescription

/// The prefix that the SDK is installed in: a link that ./build makes.
let sdk = "\(Context.packageDirectory)/out/sdk"

let package = Package(
    name: "contacts",
    products: [.library(name: "ContactsPlugin", type: .dynamic, targets: ["ContactsPlugin"])],
    dependencies: [.package(name: "larder-sdk", path: "\(sdk)/share/larder/sdk")],
    targets: [
        .target(
            name: "ContactsPlugin", dependencies: [.product(name: "LarderSDK", package: "larder-sdk")],
            linkerSettings: [
                // Nothing but the entry is visible in the library.
                .unsafeFlags(["-Xlinker", "--version-script=\(sdk)/share/larder/sdk/C/plugin.map"])
            ]),
        .systemLibrary(name: "LarderFakeHost", path: "FakeHost"),
        .testTarget(
            name: "ContactsTests",
            dependencies: ["LarderFakeHost", .product(name: "CLarder", package: "larder-sdk")],
            linkerSettings: [.unsafeFlags(["-L\(sdk)/lib", "-Xlinker", "-rpath", "-Xlinker", "\(sdk)/lib"])]),
    ])
