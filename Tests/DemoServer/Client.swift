import DemoServer
import TestServer
import TestSupport

/// A client that queries a server with `curl`, which is not part of Larder.
struct Client {
    struct Reply {
        /// The exit code of `curl`: 0, or 18 for a body that ended too early.
        var exitCode: Int32?
        var status: Int
        /// The header fields, with their names in lower case.
        var fields: [String: String]
        var body: String
    }

    let url: String
    let folderURL: String
    var credentials: String?

    init(_ server: TestServer) {
        (url, folderURL) = (server.url, server.folderURL)
        credentials = "\(server.configuration.user):\(server.configuration.password)"
    }

    init(_ server: DemoServer) {
        (url, folderURL) = (server.url, server.url + "/remote.php/webdav/")
        credentials = "\(server.user):\(server.password)"
    }

    /// Sends a request.
    /// - Parameter path: The encoded path below the served folder or, with a leading `//`, from the server's root.
    func callAsFunction(
        _ method: String, _ path: String, _ fields: [String] = [], body: String? = nil, more: [String] = []
    ) async throws -> Reply {
        let address = path.hasPrefix("//") ? url + path.dropFirst() : folderURL + path
        var arguments = ["-sS", "-i", "-g", "--path-as-is", "--max-time", "300"]
        arguments += method == "HEAD" ? ["-I"] : ["-X", method]
        if let credentials { arguments += ["-u", credentials] }
        for field in fields { arguments += ["-H", field] }
        if let body { arguments += ["--data-binary", body] }
        let result = try await run("curl", arguments + more + [address])
        var output = result.output[...]
        while output.hasPrefix("HTTP/1.1 100 "), let end = output.firstRange(of: "\r\n\r\n") {
            output = output[end.upperBound...]
        }
        var parts = output.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count < 2 { parts.append("") }
        let lines = parts[0].split(separator: "\r\n")
        var reply = Reply(exitCode: result.exitCode, status: 0, fields: [:], body: String(parts[1]))
        reply.status = Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2 { reply.fields[pair[0].lowercased()] = String(pair[1].dropFirst()) }
        }
        return reply
    }

    func list(_ path: String = "", depth: String = "1") async throws -> Reply {
        try await self("PROPFIND", path, ["Depth: \(depth)"])
    }
}

extension String {
    /// Returns the text between an element's tags for each occurrence of the element.
    func contents(of element: String) -> [String] {
        var found: [String] = []
        var rest = self[...]
        while let start = rest.range(of: "<\(element)>") {
            rest = rest[start.upperBound...]
            guard let end = rest.range(of: "</\(element)>") else { break }
            found.append(String(rest[..<end.lowerBound]))
            rest = rest[end.upperBound...]
        }
        return found
    }
}

extension Substring {
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
