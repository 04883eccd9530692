import DemoServer
import HTTPTypes

extension MannerAnswers {
    /// Answers a request for an item of the tree.
    func answer(to asked: inout Asked, _ path: TreePath, base: String) async throws -> Answer {
        switch asked.method {
        case "PROPFIND": return try await listing(&asked, path, base: base)
        case "GET", "HEAD": return try await reading(asked, path)
        case "REPORT" where manner.ownCloudProperties: return try await favorites(&asked, path, base: base)
        default: return try await writing(&asked, path, base: base)
        }
    }

    private func writing(_ asked: inout Asked, _ path: TreePath, base: String) async throws -> Answer {
        for case .othersBefore(let act) in behavior.faults { act(service.tree) }
        defer { for case .othersAfter(let act) in behavior.faults { act(service.tree) } }
        for case .part(let count, let ending) in behavior.faults {
            let rest = try await PartlyDone(tree: service.tree, site: service.site, count: count)
                .carryOut(&asked, path)
            switch ending {
            case .hangup: throw Hangup()
            case .status(let code): return Answer(.init(code: code))
            case .failures: return PartlyDone.failures(at: rest, base: base)
            }
        }
        if !manner.conditions {
            for name in ["If-Match", "If-None-Match"] { asked.fields[named: name] = nil }
        }
        if let refusal = refusalOfName(asked) { return refusal }
        var answer: Answer
        if let own = try await ownAnswer(to: &asked, path, base: base) {
            answer = inManner(own)
        } else {
            answer = inManner(try await service.answer(to: &asked))
        }
        if asked.method == "OPTIONS" {
            answer.fields[named: "DAV"] = "1, 2, 3"
            answer.fields[.allow]? += ", LOCK, UNLOCK" + (tus == nil ? "" : ", POST")
            tus?.announce(in: &answer)
        }
        if asked.method == "PUT", !manner.etagsOnPut {
            for name in ["ETag", "OC-ETag"] { answer.fields[named: name] = nil }
        }
        return answer
    }

    /// Answers a request with a method that the demo server lacks; nil for other methods.
    private func ownAnswer(to asked: inout Asked, _ path: TreePath, base: String) async throws -> Answer? {
        let request = WriteRequest(
            asked, path, base, site: service.site, behavior: behavior, now: service.tree.now)
        let locking = Locking(tree: service.tree, rules: behavior.rules, request: request)
        do {
            switch asked.method {
            case "LOCK": return try locking.lock(try await asked.collect())
            case "UNLOCK": return try locking.unlock()
            case "POST": return try await tus?.create(asked, request)
            default: return nil
            }
        } catch let refusal as Refusal {
            return refusal.answer
        }
    }

    /// Returns the refusal of a request to a name that Nextcloud does not take. To a condition that nothing is there it
    /// answers that there is something at each name that ends with `.part`.
    private func refusalOfName(_ asked: Asked) -> Answer? {
        guard let nextcloud = manner.nextcloud else { return nil }
        let name: String?
        switch asked.method {
        case "PUT", "MKCOL": name = asked.item.split(separator: "/").last.map(String.init)
        case "MOVE", "COPY":
            let encoded = asked.fields[named: "Destination"]?.split(separator: "/").last
            name = encoded.flatMap { TreePath.decoded($0.utf8) }.map { String(decoding: $0, as: UTF8.self) }
        default: name = nil
        }
        guard let name, let sentence = nextcloud.refusal(of: name) else { return nil }
        let isPart = name.lowercased().hasSuffix(".part")
        if isPart, asked.fields[.ifNoneMatch] != nil { return Refusal.preconditionFailed.answer }
        return Refusal.malformed(sentence).answer
    }

    /// Returns Nextcloud's answer for a name that ends with `.part`, at which there is nothing.
    private func phantom(_ path: TreePath, base: String) -> Answer? {
        guard manner.nextcloud != nil, path.text.lowercased().hasSuffix(".part"), service.tree.node(at: path) == nil
        else { return nil }
        return Answer(
            .init(code: 207), type: "application/xml; charset=utf-8",
            text: """
                <?xml version="1.0"?><d:multistatus xmlns:d="DAV:"><d:response><d:href>\(base)\(path.encoded)</d:href>\
                <d:propstat><d:prop><d:resourcetype/><d:getcontentlength>0</d:getcontentlength><d:getetag></d:getetag>\
                </d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>
                """)
    }

    /// Returns an answer without the fields that the server's manner does not have.
    func inManner(_ answer: Answer) -> Answer {
        var answer = answer
        if !manner.ownCloudProperties {
            for name in ["OC-Checksum", "OC-FileId", "OC-ETag"] { answer.fields[named: name] = nil }
        }
        return answer
    }

    private func listing(_ asked: inout Asked, _ path: TreePath, base: String) async throws -> Answer {
        let body = try await asked.collect()
        if let phantom = phantom(path, base: base) { return phantom }
        var answer: Answer
        switch (Listing.Depth(asked.fields[named: "Depth"]), manner.depthInfinity) {
        case (.infinity?, .granted):
            guard let node = service.tree.node(at: path) else { return Answer(.notFound) }
            let all = service.tree.read { $0.entries(at: path, node) }
            answer = Listing(tree: service.tree, behavior: behavior).answer(listing: all, base: base, body: body)
        case (.infinity?, .oneLevel):
            var shallow = asked
            shallow.fields[named: "Depth"] = "1"
            answer = try await service.answer(to: &shallow)
        default: answer = try await service.answer(to: &asked)
        }
        tus?.announce(in: &answer)
        guard answer.status.code == 207, let node = service.tree.node(at: path) else { return answer }
        answer.spoilListing(behavior.faults) { ending in
            var file = node
            (file.children, file.content) = (nil, .none)
            let href = base + path.encoded + (node.isFolder ? "/" : "")
            return Properties(request: body, behavior: behavior).response(file, href: Array(href.utf8) + ending)
        }
        return answer
    }

    /// Answers a REPORT `oc:filter-files` for favorites.
    private func favorites(_ asked: inout Asked, _ path: TreePath, base: String) async throws -> Answer {
        if let status = manner.favoritesStatus { return Answer(.init(code: status)) }
        let body = try await asked.collect()
        guard let node = service.tree.node(at: path) else { return Answer(.notFound) }
        let marked =
            manner.favoritesAreForgotten
            ? []
            : service.tree.read { $0.entries(at: path, node) }
                .filter { $0.1.isFavorite }
        return Listing(tree: service.tree, behavior: behavior).answer(listing: marked, base: base, body: body)
    }

    private func reading(_ asked: Asked, _ path: TreePath) async throws -> Answer {
        for case .changedBeforeReading in behavior.faults { service.tree.touch(path.text) }
        var asked = asked
        if !manner.ranges { asked.fields[.range] = nil }
        var answer = inManner(try await service.answer(to: &asked))
        if !manner.ranges { answer.fields[.acceptRanges] = nil }
        for case .wrongChecksum in behavior.faults {
            if let sum = answer.fields[named: "OC-Checksum"] {
                answer.fields[named: "OC-Checksum"] = "SHA1:" + String(sum.dropFirst(5).reversed())
            }
        }
        return answer
    }
}

extension TreeState {
    /// Returns an item and everything below it.
    fileprivate func entries(at path: TreePath, _ node: Node) -> [Listing.Entry] {
        [(path, node)]
            + children(of: node).flatMap { entries(at: TreePath(names: path.names + [$0.name]), $0) }
    }
}
