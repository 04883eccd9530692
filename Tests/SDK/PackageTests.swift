import Model
import TestSupport
import Testing

/// Tests that the SDK's own package is a part of the whole package.
@Suite struct PackageTests {
    /// Returns the targets of a package that the SDK's package is to have, by their names.
    /// - Parameter above: The path from the whole package to this one.
    private func targets(of package: String, above: String) async throws -> [String: JSONValue] {
        try await withTemporaryFolder { folder in
            let text = try await mustRun(
                "swift",
                ["package", "--package-path", package, "--scratch-path", "\(folder)/build", "dump-package"])
            guard case .array(let targets)? = try JSONValue(parsing: text)["targets"] else { return [:] }
            var found: [String: JSONValue] = [:]
            for target in targets {
                guard case .string(let name)? = target["name"], case .object(var members) = target else { continue }
                for index in members.indices {
                    if members[index].name == "path", case .string(let path) = members[index].value {
                        members[index].value = .string(above + path)
                    }
                    // Only our own builds turn warnings into errors.
                    if members[index].name == "settings", case .array(let settings) = members[index].value {
                        members[index].value = .array(settings.filter { !$0.text.contains("treatAllWarnings") })
                    }
                }
                found[name] = .object(members.sorted { $0.name < $1.name })
            }
            return found
        }
    }

    @Test("The SDK's package has the same targets as the whole package, and depends on no other")
    func same() async throws {
        let own = try await targets(of: "\(Build.root)/SDK", above: "SDK/")
        let whole = try await targets(of: Build.root, above: "")
        #expect(Set(own.keys) == ["CLarder", "LarderSDK"])
        for (name, target) in own { #expect(whole[name]?.text == target.text) }
        let manifest = try Files.text("\(Build.root)/SDK/Package.swift")
        #expect(!manifest.contains("dependencies: [.") && !manifest.contains(".package("))
    }
}
