public import Model
import Transfer

extension Listings {
    /// Asks what the server holds at a path now (PROPFIND with Depth 0).
    ///
    /// Waits for no listing, download or upload.
    /// - Returns: What is there; nil if the server says that nothing is.
    /// - Throws: `ConnectionError`, as ``list(_:depth:onBatch:)-(_,_,([ListedItem],Timestamp?)->Void)``. An error says
    ///   nothing about what is there.
    public func held(at path: ItemPath) async throws(ConnectionError) -> HeldItem? {
        let root = try wire.root()
        var question = Question(
            method: "PROPFIND",
            headers: ["Depth": Depth.zero.rawValue, "Content-Type": "application/xml; charset=utf-8"],
            body: wire.knowledge.mayHaveFamilyProperties ? PropertyRequest.heldBody : PropertyRequest.standardHeldBody,
            timeLimit: wire.timeLimits.head, expected: .transfer, doing: "checking \(path)")
        try await wire.enterGate(&question, .change)
        defer { question.turn?.end() }
        do {
            return try await held(path, question, below: root)
        } catch  where error.kind == .notFound {
            return nil
        }
    }

    private func held(
        _ path: ItemPath, _ question: Question, below root: ServerAddress
    ) async throws(ConnectionError) -> HeldItem {
        var reply = try await wire.ask(question, at: root.address(of: path))
        guard reply.answer.status == 207 else { throw await wire.notListed(&reply, question) }
        try Wire.checkCoding(of: reply.answer, question, at: root.origin)
        let reader = try ListingReader(
            path, depth: .zero, root: path.isRoot ? reply.address.asFolder : root, asked: reply.address,
            isFamily: wire.knowledge.isFamily)
        while let chunk = try await wire.nextChunk(of: &reply.answer, question, at: root.origin) {
            try reader.read(chunk)
        }
        let listing = try reader.finish().listing
        return HeldItem(
            item: listing.folder, isForeign: listing.isForeign,
            checksums: ContentChecksum.all(in: reader.ownResponse?.checksums ?? ""),
            available: reader.ownResponse?.quotaAvailable.flatMap { OutsideNumber.size($0) },
            date: reply.answer.headers.first(name: "Date").flatMap { Timestamp(httpDate: $0) })
    }
}
