import DemoServer
import Logging
import Model
import TestServer
import TestSupport
import Testing

@testable import Connection

/// A server that must fulfil the contract, and its known limits.
struct ServerKind: Sendable, CustomTestStringConvertible {
    /// The kind of ETag that a listing shows for a file that was just written.
    enum ETags: Sendable { case strong, weakAtFirst, none }

    var name: String
    var program: RealServer.Program?
    /// The manner of the test server, where there is no program.
    var manner = Manner()
    var etags = ETags.strong
    var foldersHaveETags = false
    var grantsDepthInfinity = false
    var hasFileIDs = false
    /// Whether listings leave out names that begin with a dot.
    var hidesDotNames = false
    /// Whether a MOVE or COPY to a name with a question mark ends at another name.
    var cutsQuestionMarks = false
    /// Whether a MOVE or COPY into a folder that is missing makes the folder.
    var makesMissingFolders = false

    var testDescription: String { name }

    /// Tells whether the server lists a name.
    func lists(_ name: String) -> Bool { !hidesDotNames || !name.hasPrefix(".") }

    static let all = [
        ServerKind(name: "Apache mod_dav", program: .apache, etags: .weakAtFirst, foldersHaveETags: true),
        ServerKind(name: "rclone serve webdav", program: .rclone, grantsDepthInfinity: true),
        ServerKind(name: "WsgiDAV", program: .wsgidav, grantsDepthInfinity: true, cutsQuestionMarks: true),
        ServerKind(name: "nginx", program: .nginx, etags: .none, hidesDotNames: true, makesMissingFolders: true),
        ServerKind(name: "demo server", foldersHaveETags: true, hasFileIDs: true),
        ServerKind(name: "Nextcloud's manner", manner: .nextcloud, foldersHaveETags: true, hasFileIDs: true),
        ServerKind(name: "without conditions, behind Apache", manner: .behindApache, foldersHaveETags: true),
    ]
}

/// A running server that holds some files.
struct Served {
    var url: String
    var username: String
    var password: String
    /// Writes a file at a path below the root, over HTTP or directly.
    var put: (String, String) async throws -> Void

    /// Runs a server with these files and a connection to the server. The connection is shut down at the end.
    static func running(
        _ kind: ServerKind, _ files: [String: String], limits: Limits = Limits(),
        _ body: (Served, Connection) async throws -> Void
    ) async throws {
        guard let program = kind.program else {
            var configuration = TestServer.Configuration()
            configuration.manner = kind.manner
            return try await TestServer.running(configuration) { server in
                for (path, text) in files { server.tree.put("/" + path, text) }
                let served = Served(
                    url: kind.manner.statusDocument ? server.url : server.folderURL,
                    username: server.configuration.user, password: server.configuration.password,
                    put: { path, text in server.tree.put("/" + path, text) })
                try await served.connected(limits, body)
            }
        }
        try await withTemporaryFolder { folder in
            let data = "\(folder)/data"
            try Files.makeFolder(data)
            for (path, text) in files { try Files.write(text, to: "\(data)/\(path)") }
            var options = RealServer.Options()
            options.user = ("ada", "pass word:ü")
            options.depthInfinity = kind.grantsDepthInfinity
            try await withServer(program, data: data, options: options) { server in
                let served = Served(
                    url: server.url, username: "ada", password: "pass word:ü",
                    put: { path, text in
                        try await server.put(path, text)
                        try await server.handOverData()
                    })
                try await served.connected(limits, body)
            }
        }
    }

    private func connected(_ limits: Limits, _ body: (Served, Connection) async throws -> Void) async throws {
        let connection = Connection(
            bookmark: .at(url, username: username), credentials: .basic(username: username, password: password),
            limits: limits, logger: Logger(label: "test"))
        try await closing(connection) { try await body(self, connection) }
    }
}

/// Shuts a connection down when `body` returns or throws.
func closing<Result>(_ connection: Connection, _ body: () async throws -> Result) async throws -> Result {
    do {
        let result = try await body()
        await connection.shutdown()
        return result
    } catch {
        await connection.shutdown()
        throw error
    }
}
