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
        var reader: LiveQueryReader
        do throws(Failure) {
            try Self.checkVersion(fields)
            do { try await hosting.untilOpened(account) } catch { throw Failure(.failed, "the query was cancelled") }
            reader = try host(of: account, as: fields[ControlField.account]).read(query)
        } catch {
            // The account, or the host, has as many readers as it may have.
            let status = error.message == LiveQuery.tooMany.message ? "503 Service Unavailable" : error.kind.status
            return try await connection.answer(status, Array(JSONValue(error: error).text.utf8))
        }
        defer { reader.end() }
        guard connection.becomeStream() else {
            return try await connection.answer(
                "503 Service Unavailable", Array(JSONValue(error: LiveQuery.tooMany).text.utf8))
        }
        try await connection.beginEvents()
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
                    let told = JSONValue(error: hosting.noAccount(account)).text
                    try await connection.send(Array("event: error\ndata: \(told)\n\n".utf8))
                    return try await connection.endEvents()
                }
                (reader, isAnew) = (next, true)
            }
        }
    }

    private static let sign = Array(":\n\n".utf8)

    /// Waits until an account is at work again.
    /// - Returns: nil if the host has it no longer.
    /// - Throws: a failure of the connection; `CancellationError` if the host ends.
    private func reader(
        _ query: LiveQuery, in account: String, on connection: ControlConnection
    ) async throws -> LiveQueryReader? {
        while hosting.phases[account] != nil {
            try await hosting.options.clock.sleep(Self.retryInterval)
            try await connection.send(Self.sign)
            if let reader = try? hosting.phases[account]?.host?.read(query) { return reader }
        }
        return nil
    }

    private static func event(_ update: LiveQueryUpdate, isAnew: Bool) -> [UInt8] {
        var update = update
        if isAnew { update.isAnew = true }
        return Array("id: \(update.position)\nevent: changeSet\ndata: \(JSONValue(update).text)\n\n".utf8)
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
