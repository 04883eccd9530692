public import Model
import Transfer

extension Connection {
    /// Asks what the server holds at a path now (PROPFIND with Depth 0).
    ///
    /// Waits for no listing, download or upload.
    /// - Returns: What is there; nil if the server says that nothing is.
    /// - Throws: `ConnectionError`, as ``list(_:depth:onBatch:)-(_,_,([ListedItem],Timestamp?)->Void)``. An error says
    ///   nothing about what is there.
    public func held(at path: ItemPath) async throws(ConnectionError) -> HeldItem? {
        let root = try root()
        var question = Question(
            method: "PROPFIND",
            headers: ["Depth": Depth.zero.rawValue, "Content-Type": "application/xml; charset=utf-8"],
            body: knowledge.mayHaveFamilyProperties ? PropertyRequest.heldBody : PropertyRequest.standardHeldBody,
            timeLimit: timeLimits.head, expected: .transfer, doing: "checking \(path)")
        try await enterGate(&question, .change)
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
        var reply = try await ask(question, at: address(of: path, below: root))
        guard reply.answer.status == 207 else { throw await notListed(&reply, question) }
        try Self.checkCoding(of: reply.answer, question, at: root.origin)
        let reader = try ListingReader(
            path, depth: .zero, root: path.isRoot ? reply.address.asFolder : root, asked: reply.address,
            isFamily: knowledge.isFamily)
        while let chunk = try await nextChunk(of: &reply.answer, question, at: root.origin) { try reader.read(chunk) }
        let listing = try reader.finish().listing
        return HeldItem(
            item: listing.folder, isForeign: listing.isForeign,
            checksums: ContentChecksum.all(in: reader.ownResponse?.checksums ?? ""),
            available: reader.ownResponse?.quotaAvailable.flatMap { OutsideNumber.size($0) },
            date: reply.answer.headers.first(name: "Date").flatMap { Timestamp(httpDate: $0) })
    }

    /// Returns the address of an item.
    /// - Parameter isFolder: Whether the address gets a closing slash, as that of a folder.
    func address(of path: ItemPath, isFolder: Bool = false, below root: ServerAddress) -> ServerAddress {
        if path.isRoot { return root }
        return root.appending(PercentCoding.encoded(path: String(path.text.dropFirst())) + (isFolder ? "/" : ""))
    }
}
