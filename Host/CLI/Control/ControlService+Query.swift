import Core
import Model
import Threads

/// The answers to live queries: streams of change sets.
extension ControlService {
    /// The time between two checks of whether an account that was closed is at work again.
    private static let retryInterval = Duration.seconds(1)

    /// Tells a list and its changes until the client closes the connection, or the host has the account no longer. After
    /// a reload or a restart of the account the list is told anew.
    /// - Throws: a failure of the connection.
    func follow(
        _ query: LiveQuery, in account: String, _ fields: [String: String], on connection: ControlConnection
    ) async throws {
        var first: LiveQueryReader?
        do throws(Failure) {
            try Self.checkVersion(fields)
            guard let phase = hosting.phases[account] else { throw hosting.noAccount(account) }
            try check(fields[ControlField.account], of: account)
            if let failure = phase.failure { throw failure }
            first = try phase.host?.read(query)
        } catch {
            let status = error.message == LiveQuery.tooMany.message ? Self.full : error.kind.status
            return try await connection.answer(status, Array(JSONValue(error: error).text.utf8))
        }
        defer { first?.end() }
        guard connection.becomeStream() else {
            return try await connection.answer(Self.full, Array(JSONValue(error: LiveQuery.tooMany).text.utf8))
        }
        try await connection.beginEvents()
        // An account that is being opened is read as soon as it is at work.
        if first == nil { first = try await reader(query, in: account, on: connection) }
        guard var reader = first else { return try await end(account, on: connection) }
        defer { reader.end() }
        var isAnew = false
        while true {
            let news: Result<LiveQueryUpdate?, Failure>
            do throws(Failure) {
                news = .success(try await reader.next(within: Self.signInterval, hosting.options.clock))
            } catch { news = .failure(error) }
            switch news {
            case .success(nil): try await connection.send(Self.sign)
            case .success(let update?):
                try await connection.send(Self.event(update, isAnew: isAnew))
                isAnew = false
            case .failure:
                reader.end()
                guard let next = try await self.reader(query, in: account, on: connection) else {
                    return try await end(account, on: connection)
                }
                (reader, isAnew) = (next, true)
            }
        }
    }

    /// Tells that the host has the account no longer.
    private func end(_ account: String, on connection: ControlConnection) async throws {
        let told = JSONValue(error: hosting.noAccount(account)).text
        try await connection.send(Array("event: error\ndata: \(told)\n\n".utf8))
        try await connection.endEvents()
    }

    private static let full = "503 Service Unavailable"
    private static let sign = Array(":\n\n".utf8)

    /// Waits until an account is at work again.
    /// - Returns: nil if the host has it no longer.
    /// - Throws: a failure of the connection; `CancellationError` if the host ends.
    private func reader(
        _ query: LiveQuery, in account: String, on connection: ControlConnection
    ) async throws -> LiveQueryReader? {
        while hosting.phases[account] != nil {
            try await connection.send(Self.sign)
            try await hosting.options.clock.sleep(Self.retryInterval)
            if let reader = try? hosting.phases[account]?.host?.read(query) { return reader }
        }
        return nil
    }

    private static func event(_ update: LiveQueryUpdate, isAnew: Bool) -> [UInt8] {
        var update = update
        if isAnew { update.isAnew = true }
        let position = update.isPart ? "" : "id: \(update.position)\n"
        return Array("\(position)event: changeSet\ndata: \(JSONValue(update).text)\n\n".utf8)
    }
}

extension JSONValue {
    /// Makes the JSON of a change set.
    init(_ update: LiveQueryUpdate) {
        func items(_ entries: [LiveQueryUpdate.Entry]) -> JSONValue {
            .array(
                entries.map { entry in
                    guard case .object(var members) = JSONValue(entry.report) else { return .null }
                    members.append(Member(name: "position", value: .integer(entry.position)))
                    if let old = entry.oldPosition { members.append(Member(name: "oldPosition", value: .integer(old))) }
                    return .object(members)
                })
        }
        self = .object([
            "changeSet": .object([
                "epoch": .integer(update.position.epoch), "anchor": .integer(update.position.anchor),
                "inserted": items(update.inserted), "updated": items(update.updated),
                "removed": items(update.removed), "moved": items(update.moved),
            ]),
            "anew": .bool(update.isAnew),
            "state": .string(update.state.rawValue),
        ])
    }
}
