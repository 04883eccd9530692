import DemoServer
import Logging
import Model
import TestServer
import TestSupport
import Testing

@testable import Connection

/// Each request that changes a server, with each fault that leaves open what the server did.
struct WriteFaultTests {
    private enum Change: CaseIterable {
        case makeFolder, put, replace, moveFile, moveFolder, copyFile, copyFolder, removeFile, removeFolder

        static let start = ["/a/one": "one", "/a/sub/two": "two"]

        var method: String {
            switch self {
            case .makeFolder: "MKCOL"
            case .put, .replace: "PUT"
            case .moveFile, .moveFolder: "MOVE"
            case .copyFile, .copyFolder: "COPY"
            case .removeFile, .removeFolder: "DELETE"
            }
        }

        func request(_ connection: Connection) async throws -> WriteOutcome {
            func put(_ place: ItemPath, _ base: UploadRequest.Base) async throws -> WriteOutcome {
                try await connection.writes.put(place, UploadRequest(base: base, size: 4), from: MemorySource("mine"))
            }
            let (one, a) = (path("/a/one"), path("/a"))
            switch self {
            case .makeFolder: return try await connection.writes.makeFolder(path("/new"))
            case .put: return try await put(path("/mine"), .new)
            case .replace:
                let held = try await connection.listings.held(at: one)
                return try await put(one, .version(try #require(held?.item.etag)))
            case .moveFile: return try await connection.writes.move(one, to: path("/b"), isFolder: false)
            case .moveFolder: return try await connection.writes.move(a, to: path("/b"), isFolder: true)
            case .copyFile: return try await connection.writes.copy(one, to: path("/b"), isFolder: false)
            case .copyFolder: return try await connection.writes.copy(a, to: path("/b"), isFolder: true)
            case .removeFile: return try await connection.writes.delete(one, isFolder: false)
            case .removeFolder: return try await connection.writes.delete(a, isFolder: true)
            }
        }
    }

    private static let manners: [(String, Manner)] = [
        ("family", Manner()), ("Nextcloud", .nextcloud), ("plain", .plain), ("behind Apache", .behindApache),
    ]

    private static let faults: [(String, Fault.Kind)] = [
        ("nothing, then lost", .part(0, .hangup)), ("a part, then lost", .part(1, .hangup)),
        ("all, then lost", .lostAnswer(executed: true)), ("a part, then 504", .part(1, .status(504))),
        ("all, then 504", .statusAfterwards(504)), ("a part, then failures", .part(1, .failures)), ("a page", .page),
    ]

    @Test("S49: where an answer leaves open what a server did, it is never taken for done, and never for undone")
    func table() async throws {
        for (server, manner) in Self.manners {
            for change in Change.allCases {
                for (name, fault) in Self.faults {
                    try await tried(change, fault, manner, "\(change), \(name), \(server)")
                }
            }
        }
    }

    private func tried(_ change: Change, _ fault: Fault.Kind, _ manner: Manner, _ note: String) async throws {
        var configuration = TestServer.Configuration()
        configuration.manner = manner
        try await TestServer.running(configuration) { server in
            for (path, text) in Change.start { server.tree.put(path, text) }
            let connection = Connection(
                bookmark: .at(manner.statusDocument ? server.url : server.folderURL, username: configuration.user),
                credentials: .basic(username: configuration.user, password: configuration.password),
                logger: Logger(label: "test"))
            try await closing(connection) {
                _ = try await connection.connect()
                server.add(Fault(fault, method: change.method, times: 1))
                do {
                    switch try await change.request(connection) {
                    case .done: Issue.record("\(note): done")
                    case .refused(let refusal):
                        // What is told of the single items is known.
                        guard case .part(_, .failures) = fault else {
                            Issue.record("\(note): \(refusal)")
                            return
                        }
                    case .unclear(let error): #expect(error.mayHaveArrived, "\(note)")
                    }
                } catch let error as ConnectionError {
                    #expect(error.mayHaveArrived, "\(note): \(error)")
                }
            }
        }
    }
}
