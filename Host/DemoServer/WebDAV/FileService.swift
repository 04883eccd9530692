import HTTPTypes

/// The service that answers the requests for items of the tree.
struct FileService: Sendable {
    let site: Site
    let tree: Tree
    let behavior: any FileBehavior

    static let methods = [
        "OPTIONS", "GET", "HEAD", "PROPFIND", "PUT", "MKCOL", "DELETE", "MOVE", "COPY", "PROPPATCH",
    ]

    func answer(to asked: inout Asked, _ path: TreePath, _ base: String) async throws -> Answer {
        switch asked.method {
        case "GET", "HEAD": return Reading(tree: tree, behavior: behavior).answer(path, fields: asked.fields)
        case "PROPFIND":
            return Listing(tree: tree, behavior: behavior).answer(
                path, base: base, depth: .init(asked.fields[named: "Depth"]), body: try await asked.collect())
        case "OPTIONS":
            var answer = Answer(.ok)
            answer.fields[named: "DAV"] = "1, 3"
            answer.fields[.allow] = Self.methods.joined(separator: ", ")
            return answer
        default:
            do {
                return try await write(&asked, path, base)
            } catch let refusal as Refusal {
                return refusal.answer
            }
        }
    }

    private func write(_ asked: inout Asked, _ path: TreePath, _ base: String) async throws -> Answer {
        let request = WriteRequest(asked, path, base, site: site, behavior: behavior, now: tree.now)
        let folders = FolderWriting(tree: tree, request: request)
        switch asked.method {
        case "PUT":
            return try await Putting(tree: tree, request: request).answer(to: asked)
        case "MKCOL": return try await folders.makeFolder(hasBody: !asked.collect().isEmpty)
        case "DELETE": return try folders.remove()
        case "MOVE": return try Moving(tree: tree, request: request, isCopy: false).answer()
        case "COPY": return try Moving(tree: tree, request: request, isCopy: true).answer()
        case "PROPPATCH": return try Patching(tree: tree, request: request).answer(try await asked.collect())
        default: return Answer(.methodNotAllowed)
        }
    }
}
