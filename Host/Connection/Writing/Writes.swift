public import Model
import Threads
import Transfer

/// Changes on an account's server.
public struct Writes: Sendable {
    let wire: Wire
    /// The questions about folders into which files were uploaded.
    let confirmations = Monitor(ConfirmationQueue())

    init(wire: Wire) { self.wire = wire }

    /// Listings of folders, and questions about items.
    public var listings: Listings { Listings(wire: wire) }

    /// What the server does differently when something is written, as far as it is known.
    public var writingManners: WritingManners { wire.knowledge.manners }

    /// Returns the number of files that it helps to upload at the same time, as far as is known. It changes.
    public func uploadsAtOnce(_ size: SizeClass) -> Int { wire.gate(.largeUpload).limit(.upload(size)) }

    /// Creates a folder (MKCOL; RFC 4918, section 9.3).
    ///
    /// A folder whose parent is missing is refused with ``WriteRefusal/parentMissing``, and whatever exists at the path
    /// already, a folder included, with ``WriteRefusal/exists``.
    /// - Throws: `ConnectionError`. If its `mayHaveArrived` is set, the folder may have been created.
    public func makeFolder(_ path: ItemPath) async throws(ConnectionError) -> WriteOutcome {
        if try await !wire.knownManners().refusesExistingFolder, try await listings.held(at: path) != nil {
            return .refused(.exists)
        }
        return try await send(.makeFolder(path), "MKCOL", isFolder: true)
    }

    /// Deletes a file, or a folder with everything in it (DELETE; RFC 4918, section 9.6).
    ///
    /// What is gone already is refused with ``WriteRefusal/notFound``, or with ``WriteRefusal/versionChanged`` if a
    /// version was named.
    /// - Parameters:
    ///   - path: The item's path.
    ///   - isFolder: Whether the item is a folder.
    ///   - version: The version of the file that may be deleted; nil deletes whatever is at the path. A folder has no
    ///     version.
    /// - Throws: `ConnectionError`. If its `mayHaveArrived` is set, the item may have been deleted, a folder also in
    ///   part.
    public func delete(
        _ path: ItemPath, isFolder: Bool, version: ETag? = nil
    ) async throws(ConnectionError) -> WriteOutcome {
        var headers = HTTPHeaders()
        if !isFolder, let version {
            var known = version
            if try await !wire.knownManners().heedsConditions || version.field == nil {
                guard let held = try await listings.held(at: path) else { return .refused(.notFound) }
                guard held.item.kind == .file, let current = held.item.etag, current == version else {
                    return .refused(.versionChanged)
                }
                known = current
            }
            if let field = known.field { headers.add(name: "If-Match", value: field) }
        }
        return try await send(.delete(path), "DELETE", headers, isFolder: isFolder)
    }

    /// Moves or renames a file, or a folder with everything in it (MOVE; RFC 4918, section 9.9).
    ///
    /// Whatever is at the target already stays: the request is refused with ``WriteRefusal/exists``.
    /// - Throws: `ConnectionError`. If its `mayHaveArrived` is set, the item may have been moved.
    public func move(
        _ path: ItemPath, to target: ItemPath, isFolder: Bool
    ) async throws(ConnectionError) -> WriteOutcome {
        try await send(.move(path, to: target), "MOVE", try headers(to: target, isFolder), isFolder: isFolder)
    }

    /// Copies a file, or a folder with everything in it (COPY; RFC 4918, section 9.8).
    ///
    /// Whatever is at the target already stays: the request is refused with ``WriteRefusal/exists``.
    /// - Throws: `ConnectionError`. If its `mayHaveArrived` is set, the item may have been copied, a folder also in
    ///   part.
    public func copy(
        _ path: ItemPath, to target: ItemPath, isFolder: Bool
    ) async throws(ConnectionError) -> WriteOutcome {
        try await send(.copy(path, to: target), "COPY", try headers(to: target, isFolder), isFolder: isFolder)
    }

    /// Marks an item as a favorite, or no longer (PROPPATCH of `oc:favorite`).
    ///
    /// A server that is not of the ownCloud family has no favorites: the request is not sent, and refused with
    /// ``WriteRefusal/notAllowed``.
    /// - Throws: `ConnectionError`. The request may be repeated without harm.
    public func setFavorite(_ path: ItemPath, _ isFavorite: Bool) async throws(ConnectionError) -> WriteOutcome {
        try await setProperty("<oc:favorite>\(isFavorite ? 1 : 0)</oc:favorite>", .setFavorite(path))
    }

    /// Sets the modification time of a file (PROPPATCH of `DAV:lastmodified`, a property of servers of the ownCloud
    /// family, which takes seconds since 1970; `DAV:getlastmodified` is protected: RFC 4918, section 15.7).
    ///
    /// A server that is not of the ownCloud family sets no modification time: the request is not sent, and refused with
    /// ``WriteRefusal/notAllowed``. An outcome of `done` does not say that the server has the time now: ask
    /// ``Listings/held(at:)``. The file may have another ETag then.
    /// - Parameters:
    ///   - path: The file's path.
    ///   - time: The time. Its part of a second is left out.
    ///   - version: The version of the file whose time may be changed; nil changes that of whatever is at the path.
    /// - Throws: `ConnectionError`. If its `mayHaveArrived` is set, the time may have been changed.
    public func setModificationTime(
        _ path: ItemPath, _ time: Timestamp, version: ETag?
    ) async throws(ConnectionError) -> WriteOutcome {
        var headers = HTTPHeaders()
        if let field = version?.field { headers.add(name: "If-Match", value: field) }
        return try await setProperty(
            "<d:lastmodified>\(time.seconds)</d:lastmodified>", .setModificationTime(path), headers)
    }

    /// Sets a property that only servers of the ownCloud family have.
    private func setProperty(
        _ element: String, _ request: WriteRequest, _ headers: HTTPHeaders = [:]
    ) async throws(ConnectionError) -> WriteOutcome {
        guard wire.knowledge.isFamily else { return .refused(.notAllowed) }
        let body = """
            <?xml version="1.0" encoding="utf-8"?>
            <d:propertyupdate xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:set><d:prop>\
            \(element)</d:prop></d:set></d:propertyupdate>
            """
        var headers = headers
        headers.add(name: "Content-Type", value: "application/xml; charset=utf-8")
        return try await send(request, "PROPPATCH", headers, body: Array(body.utf8), isFolder: false)
    }

    /// Returns the fields of a request that puts something at a target where nothing is.
    private func headers(to target: ItemPath, _ isFolder: Bool) throws(ConnectionError) -> HTTPHeaders {
        let address = try wire.root().address(of: target, isFolder: isFolder)
        var headers: HTTPHeaders = ["Destination": address.description, "Overwrite": "F"]
        if isFolder { headers.add(name: "Depth", value: Depth.infinity.rawValue) }
        return headers
    }

    private func send(
        _ request: WriteRequest, _ method: String, _ headers: HTTPHeaders = [:], body: [UInt8] = [], isFolder: Bool
    ) async throws(ConnectionError) -> WriteOutcome {
        guard !request.path.isRoot, request.target?.isRoot != true else { return .refused(.notAllowed) }
        if let refusal = try await refusalOfName(request) { return .refused(refusal) }
        let question = Question(
            method: method, headers: headers, body: body, isWrite: true, timeLimit: wire.timeLimits.head,
            expected: .document, doing: request.doing)
        let address = try wire.root().address(of: request.path, isFolder: isFolder)
        return try await outcome(try await read(question, request, at: address))
    }

    /// Returns the refusal of a name that the server would not keep as it is.
    func refusalOfName(_ request: WriteRequest) async throws(ConnectionError) -> WriteRefusal? {
        guard let target = request.target else { return nil }
        let manners = writingManners
        switch request {
        case .move, .copy:
            if manners.cutsQuestionMarks,
                target.text.utf8.contains(where: { [9, 10, 13, UInt8(ascii: "?")].contains($0) })
                    || target.name.utf8.contains(UInt8(ascii: ";"))
            {
                return .nameNotKept
            }
        default: break
        }
        if let why = try await wire.forbiddenNames()?.objection(to: target.name) { return .nameForbidden(why) }
        guard manners.mayHideDotNames, target.components.contains(where: { $0.utf8.first == UInt8(ascii: ".") }) else {
            return nil
        }
        return try await leavesOutDotNames() ? .nameNotKept : nil
    }

    /// Finds out whether the server leaves names that begin with a dot out of its listings, as nginx's own module does.
    ///
    /// What a folder holds under such names cannot be found out there. The server is asked once.
    /// - Throws: `ConnectionError`.
    public func leavesOutDotNames() async throws(ConnectionError) -> Bool {
        guard writingManners.mayHideDotNames else { return false }
        // nginx's own module names the second class alone. A server behind nginx names the first one too.
        let classes = try await wire.rootClasses()
        return classes.contains("2") && !classes.contains("1")
    }

    /// Sends a request and reads its answer.
    func read(
        _ question: Question, _ request: WriteRequest, at address: ServerAddress
    ) async throws(ConnectionError) -> WriteReading {
        var question = question
        if let first = question.first, first.status == nil || first.takeTurn() {
            // The lack of an answer has no turn, and needs none.
            if first.status != nil { question.turn = Turn(wire.gate(.smallUpload), .smallUpload) }
        } else {
            try await wire.enterGate(
                &question, question.upload.map { .upload(SizeClass(of: $0.source.size)) } ?? .change)
        }
        defer { question.turn?.end() }
        if let upload = question.upload, let turn = question.turn { question.upload = upload.telling(turn) }
        let began = wire.clock.monotonic()
        var reply = try await wire.ask(question, at: address)
        let took = question.first == nil ? wire.clock.monotonic() - began : reply.answer.waited ?? .zero
        // Only an address away from the account's files answers so and leaves open what it means.
        if reply.answer.status == 401 { try await wire.confirmRefusal(&reply.answer) }
        let document = await reply.answer.beginning(atMost: 1 << 20)
        let sentence = (200..<300).contains(reply.answer.status) ? nil : ServerSentence.read(document)
        // A page for debugging may repeat what was sent.
        let mayBeTold = sentence.map { !CredentialsEcho(reply.authorization).isIn($0) } ?? false
        return WriteReading(
            request: request, status: reply.answer.status, headers: reply.answer.headers, document: document,
            sentence: mayBeTold ? sentence : nil, address: reply.address, took: took)
    }

    /// Returns the outcome that an answer tells. Asks what the server holds if the answer leaves that open.
    func outcome(
        _ reading: WriteReading, base: UploadRequest.Base? = nil
    ) async throws(ConnectionError) -> WriteOutcome {
        switch WriteMeaning(reading, base: base) {
        case .done: return .done(WriteAnswer(reading, base: base))
        case .refused(let refusal):
            if let target = reading.request.target { noteLack(of: refusal, in: target.parent) }
            return .refused(refusal.explained(by: reading.sentence))
        case .severalItems:
            return try severalItems(reading)
        case .unclear: return .refused(try await clarified(reading).explained(by: reading.sentence))
        case .unproven: return .unclear(unproven(reading))
        case .error: throw error(for: reading)
        }
    }

    /// Returns the error for an answer that does not decide about its request.
    func error(for reading: WriteReading) -> ConnectionError {
        var error = wire.naming(
            ConnectionError(
                status: reading.status, headers: reading.headers, document: reading.document,
                doing: reading.request.doing, at: reading.address.origin, now: wire.clock.now(),
                sentence: reading.sentence))
        error.mayHaveArrived = WriteMeaning.mayHaveArrived(reading.status)
        // Behind a proxy that ends TLS, or passes requests to another host or port, some servers take the address in
        // `Destination` for one on another server.
        let isMovedOrCopied = reading.request.target != nil && reading.request.target != reading.request.path
        if reading.status == 502 || reading.status == 400, isMovedOrCopied {
            error.message += " (if only moving and copying fail so, the proxy has to rewrite the field Destination)"
        }
        return error
    }

    /// Returns the error for an answer that says that the request succeeded, and does not prove it.
    private func unproven(_ reading: WriteReading) -> ConnectionError {
        var error = wire.naming(
            ConnectionError(
                .protocolViolation,
                "\(reading.address.origin) answered \(reading.status)\(reading.hasDocument ? " with a document" : "") while "
                    + "\(reading.request.doing), which does not show that it was done",
                hint: "check whether a proxy or a login page answers in the server's place"))
        error.mayHaveArrived = true
        return error
    }

    /// Finds out why the server refused, by what it holds.
    private func clarified(_ reading: WriteReading) async throws(ConnectionError) -> WriteRefusal {
        if reading.status >= 500 {
            // The request may have been carried out. Only a missing folder shows that it was not.
            var isMissing = false
            do throws(ConnectionError) {
                if let target = reading.request.target { isMissing = try await listings.held(at: target.parent) == nil }
            } catch {
                throw self.error(for: reading)
            }
            if isMissing { return .parentMissing }
            throw error(for: reading)
        }
        switch reading.request {
        case .move(let path, _), .copy(let path, _): if try await listings.held(at: path) == nil { return .notFound }
        default: break
        }
        if let target = reading.request.target {
            guard try await listings.held(at: target.parent)?.item.kind == .folder else { return .parentMissing }
            let there = try await listings.held(at: target)
            if case .put = reading.request {
                if there?.item.kind == .folder { return .exists }
            } else if there != nil {
                return .exists
            }
        }
        return switch reading.status {
        case 400: .invalid
        case 403: .forbidden
        case 405: .notAllowed
        default: .conflict
        }
    }

    /// Reads an answer about several items.
    /// - Returns: The first refusal in it; done if it tells of none; unclear if it tells of nothing.
    private func severalItems(_ reading: WriteReading) throws(ConnectionError) -> WriteOutcome {
        let property = reading.request.property
        let properties: AskedProperties
        do { properties = try AskedProperties(property.map { [$0] } ?? []) } catch {
            throw ConnectionError(.badRequest, "\(error.text) is not a property name")
        }
        let responses: [MultistatusResponse]
        let isTruncated: Bool
        do throws(ConnectionError) {
            let reader = try MultistatusReader(properties, asked: reading.address)
            let result = reading.document.withUnsafeBytes { bytes in
                Result { () throws(ConnectionError) in try reader.read(bytes) }
            }
            responses = try result.get()
            isTruncated = try reader.finish().isTruncated
        } catch {
            var error = error
            error.mayHaveArrived = true
            throw error
        }
        if isTruncated { return .refused(.noRoom(available: nil)) }
        guard !responses.isEmpty else { return .unclear(unproven(reading)) }
        let hrefs = HrefReader(root: try wire.root(), asked: reading.address)
        for response in responses {
            let status = response.status ?? (property != nil && response.values.first == .some(nil) ? 403 : 200)
            guard !(200..<300).contains(status) else { continue }
            var part = reading
            (part.status, part.document) = (status, [])
            guard case .refused(let refusal) = WriteMeaning(part) else {
                return .refused(partly(reading.request, hrefs.place(of: response.href), .other(status: status)))
            }
            return .refused(partly(reading.request, hrefs.place(of: response.href), refusal))
        }
        return .done(WriteAnswer(reading))
    }

    private func partly(_ request: WriteRequest, _ place: HrefReader.Place, _ refusal: WriteRefusal) -> WriteRefusal {
        guard case .item(let found) = place else { return refusal }
        let path = found.spelled(as: request.path)
        guard path != request.path else { return refusal }
        return .partly(path, refusal)
    }
}
