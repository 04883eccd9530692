import Core
import Model

/// The answers to live queries: streams of change sets.
extension ControlService {
    /// Tells a list and its changes until the client closes the connection, or the host has the account no longer. After
    /// a reload or a restart of the account the list is told anew, and to a client that connects again with the last event
    /// that it has.
    /// - Parameter refreshes: Whether the server is asked for the folder first.
    /// - Throws: a failure of the connection.
    func follow(
        _ query: LiveQuery, refreshes: Bool, in account: String, _ fields: [String: String],
        on connection: ControlConnection
    ) async throws {
        var refreshes = refreshes
        var first: LiveQueryReader?
        defer { first?.end() }
        let begin = { (host: AccountHost) async throws(Failure) -> LiveQueryReader in
            let reader = try await host.read(query, refreshes: refreshes)
            refreshes = false
            return reader
        }
        guard
            try await beginStream(
                of: account, fields, on: connection,
                { host throws(Failure) in if let host { first = try await begin(host) } })
        else { return }
        // A client that names an event by which it has a list drops that list.
        var isAnew = fields[Self.lastEventField]?.isEmpty == false
        while true {
            var next = first
            first = nil
            if next == nil { next = try await reopened(account, on: connection, begin) }
            guard let reader = next else { return }
            defer { reader.end() }
            while case .success(let update) = try await awaited(
                on: connection, { () async throws(Failure) in try await reader.next() })
            {
                let text =
                    isAnew
                    ? Self.event(update, isAnew: true)
                    : update.shared?.text { Self.event(update) } ?? Self.event(update)
                try await connection.send(text)
                isAnew = false
            }
            isAnew = true
        }
    }

    private static func event(_ update: LiveQueryUpdate, isAnew: Bool = false) -> [UInt8] {
        var update = update
        if isAnew { update.isAnew = true }
        // A part has an id too: a client that has it, and connects again, has to be told that the list is anew.
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
