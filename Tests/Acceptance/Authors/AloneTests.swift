import Glibc
import TestSupport
import Testing

/// Tests of the installed SDK in a root that has nothing else of Larder's, and no network.
@Suite(.enabled(if: Build.isRoot, "this makes a root of its own")) struct AloneTests {
    /// Runs a script as `sh -e` in a root with the system's programs, the prefix as `/opt/larder`, and some further
    /// folders at their own places.
    private func run(
        _ script: String, _ installed: Installation, with folders: [String], path: [String] = [], in folder: String
    ) async throws -> ProcessResult {
        let root = """
            root=$1 prefix=$2 script=$3 path=$4
            shift 4
            mount -t tmpfs tmpfs "$root"
            mkdir -p "$root/tmp" "$root/opt/larder" "$root/proc" "$root/dev" "$root/work"
            for name in usr bin sbin lib lib64 etc; do
              if [ -L "/$name" ]; then cp -P "/$name" "$root/"
              elif [ -d "/$name" ]; then mkdir "$root/$name"; mount --bind -o ro "/$name" "$root/$name"; fi
            done
            mount --rbind /proc "$root/proc"
            mount --rbind /dev "$root/dev"
            mount --bind -o ro "$prefix" "$root/opt/larder"
            for folder; do mkdir -p "$root$folder"; mount --bind -o ro "$folder" "$root$folder"; done
            exec chroot "$root" /usr/bin/env -i HOME=/work "PATH=$path" /bin/sh -ec "cd /work; $script"
            """
        let root1 = "\(folder)/root"
        try Files.makeFolder(root1)
        return try await TestSupport.run(
            "unshare",
            [
                "--net", "--mount", "sh", "-ec", root, "sh", root1, installed.prefix, script,
                (["/opt/larder/bin"] + path + ["/usr/bin", "/bin"]).joined(separator: ":"),
            ] + folders,
            // A whole package is built, perhaps beside much else.
            timeout: .seconds(1_200))
    }

    /// The folder of the toolchain's libraries that the program needs.
    private func runtime(of installed: Installation) async throws -> String {
        let dynamic = try await mustRun("readelf", ["--dynamic", "--wide", installed.larder])
        guard let path = dynamic.firstMatch(of: /runpath: \[(\/[^:\]]*)/) else { throw SetupError("no run path") }
        return String(path.1)
    }

    @Test(
        "G24: with the installed SDK and a compiler for C and C++ alone, and no network, a plugin is begun, built, tested, tried and checked"
    )
    func c() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/prefix")
            let script = """
                ! command -v swift
                for language in c cpp; do
                  for kind in processor loop; do
                    larder plugin new --language $language --kind $kind $language-$kind
                    $language-$kind/test
                  done
                  larder plugin try $language-processor/out/$language-processor.so --items c-processor/items.jsonl
                  larder plugin validate $language-processor/out/$language-processor.so
                done
                """
            let result = try await run(script, installed, with: [try await runtime(of: installed)], in: folder)
            #expect(result.exitCode == 0, "\(result.summary)")
            #expect(result.output.ranges(of: "test: all passed").count == 4)
            #expect(result.output.ranges(of: "asks: download /Notes/list.md").count == 2)
        }
    }

    @Test(
        "G24: with the installed SDK and Rust alone, and no network, a plugin is begun, built, tested, tried and checked"
    )
    func rust() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/prefix")
            let toolchain = String(try await mustRun("rustc", ["--print", "sysroot"]).split(separator: "\n")[0])
            let script = """
                ! command -v swift
                larder plugin new --language rust --kind processor own
                own/test
                larder plugin try own/out/own.so --items own/items.jsonl
                larder plugin validate own/out/own.so
                """
            let isOfSystem = toolchain == "/usr"
            let result = try await run(
                script, installed, with: [try await runtime(of: installed)] + (isOfSystem ? [] : [toolchain]),
                path: isOfSystem ? [] : ["\(toolchain)/bin"], in: folder)
            #expect(
                result.exitCode == 0 && result.output.contains("asks: download /Notes/list.md"), "\(result.summary)")
        }
    }

    @Test(
        "G24: with the installed SDK and the Swift toolchain alone, and no network, a plugin is begun, built and tested"
    )
    func swift() async throws {
        try await withTemporaryFolder { folder in
            let installed = try await Installation(in: "\(folder)/prefix")
            let runtime = try await runtime(of: installed)
            let toolchain = runtime.replacing("/usr/lib/swift/linux", with: "")
            let script = """
                larder plugin new --language swift --kind processor own
                own/test
                larder plugin try own/out/own.so --items own/items.jsonl
                """
            let result = try await run(
                script, installed, with: toolchain.isEmpty ? [] : [toolchain], path: ["\(toolchain)/usr/bin"],
                in: folder)
            #expect(
                result.exitCode == 0 && result.output.contains("asks: download /Notes/list.md"), "\(result.summary)")
        }
    }
}
