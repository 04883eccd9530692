import HTTPTypes
import Model

/// The answer to a GET or HEAD.
struct Reading: Sendable {
    let tree: Tree
    let behavior: any FileBehavior

    func answer(_ path: TreePath, fields: HTTPFields) -> Answer {
        guard let node = tree.node(at: path) else { return Answer(.notFound) }
        guard !node.isFolder else {
            return Answer(.ok, type: "text/html; charset=utf-8", text: "<html><body>A folder.</body></html>")
        }
        let etag = behavior.etag(of: node, inHead: true)
        let conditions = Preconditions(fields: fields, etag: etag, exists: true)
        if let status = conditions.reading() {
            var answer = Answer(status)
            answer.fields[.eTag] = etag
            return answer
        }
        let range = conditions.allowRange ? ByteRange(fields[.range], size: node.size) : .whole
        var answer = body(of: node, range)
        answer.fields[.eTag] = etag
        answer.fields[.lastModified] = Timestamp(seconds: node.modified).httpDate
        answer.fields[.contentType] = "application/octet-stream"
        answer.fields[.acceptRanges] = "bytes"
        answer.fields[named: "OC-Checksum"] = node.content.checksums[0].text
        answer.fields[named: "OC-FileId"] = Properties.id(node)
        answer.fields[named: "OC-ETag"] = etag
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
