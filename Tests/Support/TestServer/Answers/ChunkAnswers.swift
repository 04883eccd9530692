import DemoServer
import HTTPTypes

/// Answers the requests for uploads in parts that are put together, as Nextcloud answers them.
struct ChunkAnswers {
    let service: Service
    let behavior: TestBehavior
    let uploads: ChunkUploads

    /// The path of the uploads of the server's user.
    private var home: String { "/remote.php/dav/uploads/\(behavior.user)/" }

    /// Answers a request; nil if it is for something else.
    func answer(to asked: inout Asked) async throws -> Answer? {
        guard let manner = behavior.manner.nextcloud else { return nil }
        if asked.path == "/remote.php/dav/bulk" {
            uploads.noteViolation("\(asked.method) \(asked.path)")
            return Answer(.ok)
        }
        guard manner.largestPart != nil, asked.path.hasPrefix(home) else { return nil }
        let names = asked.path.dropFirst(home.count).split(separator: "/").map(String.init)
        guard let folder = names.first, names.count < 3 else { return Answer(.notFound) }
        switch (asked.method, names.dropFirst().first) {
        case ("MKCOL", nil): return Answer(uploads.make(folder) ? .created : .methodNotAllowed)
        case ("DELETE", nil): return Answer(uploads.remove(folder) ? .noContent : .notFound)
        case ("PROPFIND", nil): return list(folder)
        case ("PUT", let part?): return try await put(&asked, part, in: folder, manner)
        case ("MOVE", ".file"?):
            do { return try assemble(folder, asked) } catch let refusal as Refusal { return refusal.answer }
        default: return Answer(.methodNotAllowed)
        }
    }

    private func list(_ folder: String) -> Answer {
        guard let parts = uploads.parts(in: folder) else { return Refusal.notFound.answer }
        func response(_ name: String, _ size: Int?) -> String {
            let length = size.map { "<d:getcontentlength>\($0)</d:getcontentlength>" } ?? ""
            return "<d:response><d:href>\(home)\(folder)/\(name)</d:href><d:propstat><d:prop>\(length)</d:prop>"
                + "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
        }
        let whole = parts.values.reduce(0) { $0 + $1.count }
        let all =
            [response("", nil), response(".file", whole)]
            + parts.sorted { $0.key < $1.key }.map { response($0.key, $0.value.count) }
        return Answer(
            .init(code: 207), type: "application/xml; charset=utf-8",
            text: #"<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">\#(all.joined())</d:multistatus>"#)
    }

    private func put(
        _ asked: inout Asked, _ part: String, in folder: String, _ manner: NextcloudManner
    ) async throws -> Answer {
        guard let number = Int(part), (1...10_000).contains(number) else {
            return Refusal.malformed("Invalid chunk name, must be numeric between 1 and 10000").answer
        }
        guard uploads.parts(in: folder) != nil else { return Refusal.notFound.answer }
        var bytes: [UInt8] = []
        do {
            try await asked.receive { bytes += $0 }
        } catch {
            if manner.keepsCutParts { _ = uploads.put(bytes, part, in: folder) }
            throw error
        }
        return Answer(uploads.put(bytes, part, in: folder) ? .created : .notFound)
    }

    private func assemble(_ folder: String, _ asked: Asked) throws -> Answer {
        guard let parts = uploads.parts(in: folder) else { throw Refusal.notFound }
        guard let target = asked.fields[named: "Destination"].flatMap(item) else {
            throw Refusal.malformed("The destination field was not supplied")
        }
        let whole = parts.sorted { (Int($0.key) ?? 0) < (Int($1.key) ?? 0) }.flatMap(\.value)
        if let wanted = asked.fields[named: "OC-Total-Length"], wanted != "\(whole.count)" {
            throw Refusal.malformed("Chunks on server do not sum up to \(wanted) but to \(whole.count) bytes")
        }
        if let name = target.names.last.map({ String(decoding: $0, as: UTF8.self) }),
            let sentence = behavior.manner.nextcloud?.refusal(of: name)
        {
            throw Refusal.malformed(sentence)
        }
        let modified = asked.fields[named: "X-OC-Mtime"].flatMap { Int64($0) }
        return try service.tree.with { (state) throws(Refusal) in
            if behavior.manner.conditions { try check(asked, target, state) }
            let existed = state.node(at: target) != nil
            guard state.node(at: TreePath(names: target.names.dropLast())) != nil else { throw .noParent }
            let node = try state.put(Content(whole), at: target, modified: modified ?? service.tree.now)
            uploads.remove(folder)
            var answer = Answer(existed ? .noContent : .created)
            let etag = behavior.etag(of: node, inHead: true)
            answer.fields[named: "OC-ETag"] = etag
            answer.fields[named: "OC-FileId"] = Properties.id(node)
            if modified != nil { answer.fields[named: "X-OC-MTime"] = "accepted" }
            return answer
        }
    }

    /// Checks the conditions about the target.
    private func check(_ asked: Asked, _ target: TreePath, _ state: TreeState) throws(Refusal) {
        if asked.fields[named: "Overwrite"] == "F", state.node(at: target) != nil { throw .preconditionFailed }
        // The parts have a version of their own, which no client knows.
        if asked.fields[.ifMatch] != nil { throw .preconditionFailed }
        guard let field = asked.fields[named: "If"] else { return }
        guard let header = IfHeader(field) else { throw .malformed("The If field is malformed") }
        var isMissing = false
        let isMet = header.isMet { _, _ in
            true
        } etag: { address in
            guard let node = address.flatMap(item).flatMap({ state.node(at: $0) }) else {
                isMissing = true
                return nil
            }
            return behavior.etag(of: node, inHead: true)
        }
        if isMissing { throw .notFound }
        guard isMet else { throw .preconditionFailed }
    }

    /// Returns the item at an address of this server.
    private func item(_ address: String) -> TreePath? {
        guard let scheme = address.firstRange(of: "://") else { return nil }
        let path = address[scheme.upperBound...].drop { $0 != "/" }
        guard case .item(let item, _) = Target(path, bases: service.site.bases) else { return nil }
        return item
    }
}
