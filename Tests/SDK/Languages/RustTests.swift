import TestSupport
import Testing

/// Tests of the crate `larder`, the interface for Rust.
@Suite struct RustTests {
    private static let crate = "\(Build.root)/SDK/Rust"

    @Test("The crate's raw declarations, and the numbers of their layout, are what the script makes of the headers")
    func made() async throws {
        for (part, file) in [("abi", "src/abi.rs"), ("layout", "tests/layout.rs")] {
            let made = try await mustRun("python3", ["\(Self.crate)/make-abi", part])
            #expect(try Files.text("\(Self.crate)/\(file)") == made, "run SDK/Rust/make-abi, which makes \(file) anew")
        }
        let declared = try Files.text("\(Self.crate)/src/abi.rs")
        for function in try Tour.functions() where function.contains(".") {
            let (type, member) = (function.prefix { $0 != "." }, function.drop { $0 != "." }.dropFirst())
            let body = declared.split(separator: "pub struct \(type) {\n").last?.prefix { $0 != "}" } ?? ""
            #expect(body.contains("pub \(member): unsafe") || body.contains("pub r#\(member): unsafe"), "\(function)")
        }
    }

    @Test("The crate is laid out as C is, its examples and tests hold, and it needs neither other crates nor std")
    func crate() async throws {
        try await withTemporaryFolder { folder in
            // Cargo writes beside the manifest.
            try await mustRun("cp", ["-r", Self.crate, "\(folder)/larder"])
            let manifest = ["--offline", "--manifest-path", "\(folder)/larder/Cargo.toml"]
            try await Cargo.run(["test"] + manifest)
            try await Cargo.run(["check", "--no-default-features"] + manifest)
            #expect(try Files.text("\(folder)/larder/Cargo.lock").split(separator: "[[package]]").count == 2)
        }
    }

    @Test(
        "A plugin in Rust calls and is called by every function of the headers, also in an old host and without services"
    )
    func tour() async throws {
        try await withTemporaryFolder { folder in
            let library = try await Cargo.plugin(
                "\(Build.root)/Tests/Support/Plugins/tour.rs", named: "tour", in: folder)
            let tour = try await Tour(in: folder, checks: ["-fsanitize=address,undefined", "-fno-sanitize-recover"])
            try Tour.compare(await tour.calls(of: library), Tour.expected(), "Rust")
            let old = try await tour.calls(of: library, as: "old")
            #expect(old.contains("\"upload -7\"") && !old.contains("larder_actions.upload"))
            #expect(try await tour.calls(of: library, as: "withheld").contains("it is not offered"))
        }
    }
}
