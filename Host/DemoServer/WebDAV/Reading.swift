import HTTPTypes

/// GET and HEAD.
struct Reading: Sendable {
    let tree: Tree
    let manner: Manner
    let faults: [Fault.Kind]

    func answer(_ path: TreePath, fields: HTTPFields) -> Answer {
        for case .changedBeforeReading in faults { tree.touch(path.text) }
        guard let node = tree.node(at: path) else { return Answer(.notFound) }
        guard !node.isFolder else {
            return Answer(.ok, type: "text/html; charset=utf-8", text: "<html><body>A folder.</body></html>")
        }
        let etag = Properties.etag(of: node, manner: manner, inHead: true)
        let conditions = Preconditions(fields: fields, etag: etag, exists: true)
        if let status = conditions.reading() {
            var answer = Answer(status)
            answer.fields[.eTag] = etag
            return answer
        }
        let range = manner.ranges && conditions.allowRange ? ByteRange(fields[.range], size: node.size) : .whole
        var answer = body(of: node, range)
        answer.fields[.eTag] = etag
        answer.fields[.lastModified] = HTTPDate.text(node.modified)
        answer.fields[.contentType] = "application/octet-stream"
        if manner.ranges { answer.fields[.acceptRanges] = "bytes" }
        if manner.ownCloudProperties {
            var wrong = false
            for case .wrongChecksum in faults { wrong = true }
            answer.fields[named: "OC-Checksum"] = Properties.checksum(of: node.content, wrong: wrong)
            answer.fields[named: "OC-FileId"] = Properties.id(node)
            answer.fields[named: "OC-ETag"] = etag
        }
        return answer
    }

    private func body(of node: Node, _ range: ByteRange) -> Answer {
        switch range {
        case .whole:
            var answer = Answer(.ok)
            answer.body = .content(node.content, 0..<node.size)
            return answer
        case .part(let part):
            var answer = Answer(.partialContent)
            answer.fields[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(node.size)"
            answer.body = .content(node.content, part)
            return answer
        case .unsatisfiable:
            var answer = Answer(.rangeNotSatisfiable)
            answer.fields[.contentRange] = "bytes */\(node.size)"
            return answer
        }
    }
}
