import Logging
import Model
import Transfer

extension Writes {
    /// The folder of all uploads in parts of the account's user; nil if the account's address does not tell it.
    var chunkedUploads: ServerAddress? { wire.knowledge.root.flatMap { ChunkFolder.uploads(of: $0) } }

    /// Asks which parts of an upload the server has.
    /// - Returns: Their sizes in bytes by number; nil if the folder is not there.
    func parts(in folder: ChunkFolder, doing: String) async throws(ConnectionError) -> [Int: Int64]? {
        let property = "{DAV:}getcontentlength"
        let asked: AskedProperties
        do { asked = try AskedProperties([property]) } catch {
            throw ConnectionError(.badRequest, "\(error.text) is not a property name")
        }
        let address = folder.address.asFolder
        var question = Question(
            method: "PROPFIND", headers: ["Depth": "1", "Content-Type": "application/xml; charset=utf-8"],
            body: asked.propfind, isGuess: !wire.knowledge.concernsAccount(address), timeLimit: wire.timeLimits.head,
            expected: .transfer,
            doing: doing)
        try await wire.enterGate(&question, .change)
        defer { question.turn?.end() }
        let answer = try await wire.multistatus(question, asked, at: address).answer
        switch answer.status {
        case 207: break
        case 401, 403, 404, 410: return nil
        default:
            throw wire.naming(
                ConnectionError(
                    status: answer.status, headers: [:], document: [], doing: doing, at: address.origin,
                    now: wire.clock.now()))
        }
        var sizes: [Int: Int64] = [:]
        while let response = try await answer.next() {
            let name = response.href.split(separator: "/").last ?? ""
            guard !name.isEmpty, name.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(name) else {
                continue
            }
            // A part whose size is not told counts as one that is not there.
            sizes[number] = response.values.first.flatMap { $0 }.flatMap { OutsideNumber.size($0) } ?? -1
        }
        return sizes
    }

    /// Has the server drop the folder of an upload in parts. One that stays expires.
    func drop(_ folder: ChunkFolder) async {
        let question = Question(
            method: "DELETE", isGuess: !wire.knowledge.concernsAccount(folder.address), timeLimit: wire.timeLimits.head,
            expected: .document, doing: "dropping an upload")
        do {
            let reading = try await read(question, .put(.root), at: folder.address.asFolder)
            wire.logger.debug("An upload was dropped", metadata: ["status": "\(reading.status)"])
        } catch {
            wire.logger.debug("An upload was not dropped: \(error.message)")
        }
    }
}
