import Model
import Synchronization
import Transfer

@testable import Connection

/// A plain WebDAV server without a network. The seed determines how long each answer takes, and, while the server is
/// bad, whether the answer fails.
final class SeededServer: HTTPTransport {
    private struct File {
        var text: String
        var version: Int
        var etag: String { "\"\(version)\"" }
    }

    private struct State {
        var files: [String: File] = [:]
        var versions = 0
        var isBad = true
        var requests: [String] = []
        /// All contents ever served at a path.
        var served: [String: Set<String>] = [:]
    }

    static let root = "/dav/"
    private let executor: SeededExecutor
    private let state = Mutex(State())

    init(_ executor: SeededExecutor) { self.executor = executor }

    /// The requests as `GET /a at 0.02 seconds`, in their order.
    var requests: [String] { state.withLock(\.requests) }
    /// The texts of all files by their paths, such as `/a/b`.
    var files: [String: String] { state.withLock { $0.files.mapValues(\.text) } }
    func hasServed(_ text: String, at path: String) -> Bool {
        state.withLock { $0.served[path]?.contains(text) == true }
    }
    func improve() { state.withLock { $0.isBad = false } }

    /// Writes a new file, or a new version of a file.
    func put(_ path: String) {
        state.withLock { state in
            state.versions += 1
            let text = "\(path) \(state.versions) " + String(repeating: "x", count: Int(executor.random() % 3_000))
            state.files[path] = File(text: text, version: state.versions)
            state.served[path, default: []].insert(text)
        }
    }

    /// Writes or removes one of the files, as another client does.
    private func meddle() {
        let paths = files.keys.sorted()
        guard !paths.isEmpty else { return }
        let path = paths[Int(executor.random() % UInt64(paths.count))]
        if executor.happens(onceIn: 4) {
            state.withLock { $0.files[path] = nil }
        } else {
            put(executor.happens(onceIn: 4) ? path + "-new" : path)
        }
    }

    // MARK: Requests

    func execute(_ request: HTTPRequest, limits: AnswerLimits) async throws(TransportError) -> HTTPAnswer {
        let time = executor.clock.monotonic()
        state.withLock { $0.requests.append("\(request.method) \(request.address.path) at \(time)") }
        try await wait()
        guard state.withLock(\.isBad) else { return answer(to: request) }
        if executor.happens(onceIn: 20) { meddle() }
        if executor.happens(onceIn: 30) { throw .closed }
        if executor.happens(onceIn: 60) { throw .timedOut(.head) }
        if executor.happens(onceIn: 30) { return HTTPAnswer(status: 503, headers: [:], body: Body(server: self)) }
        return answer(to: request)
    }

    func shutdown() async {}

    fileprivate func wait() async throws(TransportError) {
        do { try await executor.clock.sleep(.milliseconds(Int64(executor.random() % 50))) } catch { throw .cancelled }
    }

    private func answer(to request: HTTPRequest) -> HTTPAnswer {
        guard request.address.path.hasPrefix(Self.root) else { return status(404) }
        let path = "/" + request.address.path.dropFirst(Self.root.count)
        switch request.method {
        case "PROPFIND": return listing(of: path, deep: request.headers.first(name: "Depth") != "0")
        case "GET": return file(path, request.headers)
        default: return status(405)
        }
    }

    private func status(_ status: Int) -> HTTPAnswer {
        HTTPAnswer(status: status, headers: [:], body: Body(server: self))
    }

    private func listing(of path: String, deep: Bool) -> HTTPAnswer {
        let files = state.withLock(\.files)
        let folder = path.hasSuffix("/") ? path : path + "/"
        guard folder == "/" || files.keys.contains(where: { $0.hasPrefix(folder) }) else { return status(404) }
        var entries = [response(folder, nil)]
        let names = Set(
            files.keys.filter { $0.hasPrefix(folder) }.compactMap { path in
                path.dropFirst(folder.count).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).first
            })
        if deep {
            for name in names.sorted() {
                let child = folder + name
                entries.append(files[child].map { response(child, $0) } ?? response(child + "/", nil))
            }
        }
        let text = "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">\(entries.joined())</D:multistatus>"
        return HTTPAnswer(
            status: 207, headers: ["Content-Type": "application/xml"], body: Body(server: self, bytes: Array(text.utf8))
        )
    }

    private func response(_ path: String, _ file: File?) -> String {
        let properties =
            file.map {
                """
                <D:resourcetype/><D:getcontentlength>\($0.text.utf8.count)</D:getcontentlength>\
                <D:getetag>\($0.etag)</D:getetag>
                """
            }
            ?? "<D:resourcetype><D:collection/></D:resourcetype>"
        return """
            <D:response><D:href>\(Self.root)\(path.dropFirst())</D:href><D:propstat><D:prop>\(properties)</D:prop>\
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
            """
    }

    private func file(_ path: String, _ fields: HTTPHeaders) -> HTTPAnswer {
        guard let file = state.withLock({ $0.files[path] }) else { return status(404) }
        if let wanted = fields.first(name: "If-Match"), wanted != file.etag { return status(412) }
        let bytes = Array(file.text.utf8)
        var headers: HTTPHeaders = ["ETag": file.etag, "Accept-Ranges": "bytes"]
        let range = fields.first(name: "Range").flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        if let from = range, from < bytes.count, fields.first(name: "If-Range") ?? file.etag == file.etag {
            headers.add(name: "Content-Range", value: "bytes \(from)-\(bytes.count - 1)/\(bytes.count)")
            headers.add(name: "Content-Length", value: "\(bytes.count - from)")
            return HTTPAnswer(status: 206, headers: headers, body: Body(server: self, bytes: Array(bytes[from...])))
        }
        headers.add(name: "Content-Length", value: "\(bytes.count)")
        return HTTPAnswer(status: 200, headers: headers, body: Body(server: self, bytes: bytes))
    }

    private struct Body: HTTPBody {
        let server: SeededServer
        var bytes: [UInt8] = []

        mutating func next() async throws(TransportError) -> [UInt8]? {
            guard !bytes.isEmpty else { return nil }
            try await server.wait()
            if server.state.withLock(\.isBad), server.executor.happens(onceIn: 40) { throw .closed }
            let chunk = bytes.prefix(1_000)
            bytes.removeFirst(chunk.count)
            return Array(chunk)
        }
    }
}
