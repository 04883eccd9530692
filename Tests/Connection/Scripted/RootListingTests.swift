import Model
import Synchronization
import Testing
import Transfer

@testable import Connection

/// Makes a plain server whose root holds `files` files, and a connection that sends one request at a time. If `failure`
/// is given, the root's listings end with it.
private func server(files: Int, failure: TransportError? = nil) -> (Connection, ScriptedTransport) {
    let text = Document.multistatus(["/"] + (0..<files).map { "/f\($0)" })
    let transport = ScriptedTransport { request, _ throws(TransportError) in
        if request.method == "GET" { return .status(404) }
        var bytes = Array(text.utf8)[...]
        var chunks: [[UInt8]] = []
        while !bytes.isEmpty {
            chunks.append(Array(bytes.prefix(50_000)))
            bytes = bytes.dropFirst(50_000)
        }
        if failure != nil { chunks.removeLast() }
        return HTTPAnswer(status: 207, headers: [:], body: ScriptedBody(chunks: chunks, failure: failure))
    }
    return (Connection("https://h/", connections: 1, over: transport), transport)
}

@Suite("The root's listing begins when the server is connected to")
struct RootListingTests {
    @Test("one request tells what the server is and what the root holds", arguments: [0, 3, 512, 2000])
    func oneRequest(files: Int) async throws {
        let (connection, transport) = server(files: files)
        let (facts, begun) = try await connection.connect { $0 ? .zero : .one }
        #expect(facts.hasFiles && facts.rootItem.kind == .folder)
        let begin = try #require(begun)
        // A listing that has only begun holds up no other request.
        #expect(try await connection.entries(of: .root).entries.count == files)
        var paths: [ItemPath] = []
        let listing = try #require(
            try await connection.listings.list(begin) { (entries, _) in paths += entries.map(\.path) })
        #expect(paths == (0..<files).map { path("/f\($0)") } && listing.entries == files)
        #expect(transport.requests.compactMap { $0.headers.first(name: "Depth") } == ["1", "1"])
        #expect(try await connection.listings.list(begin) { (_, _) in } == nil)
        #expect(try await connection.entries(of: .root).entries.count == files)
    }

    @Test(
        "one that nobody reads on, or that ends badly, leaves its place to others",
        arguments: [nil, .closed as TransportError?])
    func dropped(failure: TransportError?) async throws {
        let (connection, _) = server(files: 2000, failure: failure)
        for _ in 0..<3 {
            let begun = try await connection.connect { _ in .one }.listing
            guard failure != nil, let begun else { continue }
            let error = await #expect(throws: ConnectionError.self) {
                try await connection.listings.list(begun) { (_, _) in }
            }
            #expect(error?.kind == .unreachable)
        }
    }

    @Test(
        "I13: where the root cannot be listed, the server is there nevertheless",
        arguments: [
            .status(207, [:], Document.multistatus(["/", "/f"]), failure: .closed), .status(207, [:], "<html>"),
            .status(500), .status(403),
        ] as [HTTPAnswer])
    func noListing(_ answer: HTTPAnswer) async throws {
        let transport = ScriptedTransport { request, number throws(TransportError) in
            [.status(404), answer, .status(207, [:], Document.multistatus(["/"]))][number]
        }
        // The second question goes out although no more than one may be under way.
        let connection = Connection("https://h/", connections: 1, over: transport)
        let (facts, begun) = try await connection.connect { _ in .one }
        #expect(facts.hasFiles && begun == nil)
        #expect(transport.requests.compactMap { $0.headers.first(name: "Depth") } == ["1", "0"])
    }

    @Test(
        "C2, S23: what the server says of the account, or of when to come back, is not asked for twice",
        arguments: [.status(401), .status(503, ["Retry-After": "9"]), .status(404)] as [HTTPAnswer])
    func noSecondQuestion(_ answer: HTTPAnswer) async throws {
        let transport = ScriptedTransport { _, number throws(TransportError) in number == 0 ? .status(404) : answer }
        let connection = Connection("https://h/", over: transport)
        await #expect(throws: ConnectionError.self) { try await connection.connect { _ in .one } }
        #expect(transport.requests.count == 2)
    }
}
