import HTTPTypes
import NIOCore

/// A multistatus (RFC 4918, section 13) in the making, as the faults let it be.
struct Multistatus: Sendable {
    let writer: XMLWriter
    let faults: [Fault.Kind]
    private var responses: [String] = []

    init(writer: XMLWriter, faults: [Fault.Kind]) { (self.writer, self.faults) = (writer, faults) }

    /// A resource with what it has of the wanted properties, written already, and the names of those it lacks.
    mutating func add(_ href: String, found: [String], missing: [XMLName] = []) {
        var content = writer.text(.dav("href"), href)
        if !found.isEmpty || missing.isEmpty { content += propstat(found.joined(), 200) }
        if !missing.isEmpty { content += propstat(missing.map { writer.element($0) }.joined(), 404) }
        responses.append(writer.element(.dav("response"), content))
    }

    /// A resource of which there is nothing but a status.
    mutating func add(_ href: String, status: Int, error: XMLName? = nil) {
        var content = writer.text(.dav("href"), href) + self.status(status)
        if let error { content += writer.element(.dav("error"), writer.element(error)) }
        responses.append(writer.element(.dav("response"), content))
    }

    /// - Parameter token: the sync token that belongs to what was added.
    func answer(token: String? = nil, tokenFirst: Bool = false) -> Answer {
        var listed = responses
        for case .emptyListing in faults { listed = [] }
        let end = token.map { writer.text(.dav("sync-token"), $0) } ?? ""
        let content = tokenFirst ? end + listed.joined() : listed.joined() + end
        var text = writer.document(.dav("multistatus"), content)
        for fault in faults {
            switch fault {
            case .documentType(let declaration): text = withType(declaration, text)
            // In the middle of a tag: no reader can take it for a whole answer.
            case .truncatedListing:
                let half = text[..<text.index(text.startIndex, offsetBy: text.count / 2)]
                text = half[..<(half.lastIndex(of: "<") ?? half.startIndex)] + "<d:hr"
            default: break
            }
        }
        return Answer(
            .init(code: 207, reasonPhrase: "Multi-Status"), type: "application/xml; charset=utf-8", text: text)
    }

    private func propstat(_ content: String, _ code: Int) -> String {
        writer.element(.dav("propstat"), writer.element(.dav("prop"), content) + status(code))
    }

    private func status(_ code: Int) -> String {
        let phrases = [200: "OK", 404: "Not Found", 418: "I'm a teapot", 507: "Insufficient Storage"]
        return writer.text(.dav("status"), "HTTP/1.1 \(code) \(phrases[code] ?? "")")
    }

    /// Puts a declaration before the root, and `&e;` in the place of each name and token.
    private func withType(_ declaration: String, _ text: String) -> String {
        var parts = text.split(separator: "\n", maxSplits: 1).map(String.init)
        for name in [XMLName.dav("displayname"), .dav("sync-token")] {
            let (start, end) = (writer.tags(name).start, writer.tags(name).end)
            let pieces = parts[1].components(after: start)
            parts[1] = pieces.dropFirst().reduce(pieces[0]) { done, piece in
                let rest = piece.components(after: end).dropFirst().joined(separator: end)
                return done + start + "&e;" + end + rest
            }
        }
        return parts[0] + "\n" + declaration + "\n" + parts[1]
    }
}

extension String {
    /// The parts between all places where `mark` stands.
    fileprivate func components(after mark: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let found = rest.firstRange(of: mark) {
            parts.append(String(rest[..<found.lowerBound]))
            rest = rest[found.upperBound...]
        }
        return parts + [String(rest)]
    }
}
