import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport

/// The files of a server, changed beside Larder, as by other people.
struct OutsideTree: Sendable {
    let url: String
    let user: String
    let password: String
    /// Writes a file, in a folder that is there.
    let put: @Sendable (_ path: String, _ text: String) async throws -> Void
    let makeFolder: @Sendable (_ path: String) async throws -> Void
    let move: @Sendable (_ path: String, _ target: String) async throws -> Void
    let remove: @Sendable (_ path: String) async throws -> Void
    /// Returns all paths, in the order of their bytes.
    let paths: @Sendable () async throws -> [String]
}

extension Place {
    /// Runs a server.
    /// - Parameter data: The folder that the server serves, if it is one of other projects.
    func withTree(_ data: String, _ body: (OutsideTree) async throws -> Void) async throws {
        guard let program = RealServer.Program(rawValue: rawValue) else {
            return try await TestServer.running { server in
                let tree = server.tree
                try await body(
                    OutsideTree(
                        url: server.url, user: server.configuration.user, password: server.configuration.password,
                        put: { tree.put($0, $1) }, makeFolder: { tree.makeFolder($0) },
                        move: { tree.move($0, to: $1) }, remove: { tree.remove($0) },
                        paths: { tree.paths.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } }))
            }
        }
        try Files.makeFolder(data)
        try await withServer(program, data: data, options: Account.withLogin) { server in
            try await body(
                OutsideTree(
                    url: server.url, user: Account.login.name, password: Account.login.password,
                    put: { path, text in
                        try await server.put(path, text)
                        try await server.handOverData()
                    },
                    makeFolder: { path in
                        try Files.makeFolder(data + path)
                        try await server.handOverData()
                    },
                    move: { path, target in
                        guard rename(data + path, data + target) == 0 else {
                            throw SetupError("cannot move \(path): errno \(errno)")
                        }
                    },
                    remove: { path in try FileManager.default.removeItem(atPath: data + path) },
                    paths: {
                        let list = try await mustRun(
                            "find", [data, "-mindepth", "1", "-not", "-path", "*/.DAV*", "-printf", "/%P\\0"])
                        return list.split(separator: "\0").map(String.init)
                            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                    }))
        }
    }
}
