import Core
import FoundationEssentials
import Model

/// The answers to requests for a change feed: streams of events.
extension ControlService {
    /// The longest time without an event. A bookmark moves a reader on to whom nothing else is told.
    private static let bookmarkInterval = Duration.seconds(10)
    /// The field in which a client that connects again names the last event that it has, by the standard of server-sent
    /// events.
    static let lastEventField = "last-event-id"

    /// Tells what changes in an account until the client closes the connection, or the host has the account no longer. The
    /// stream goes on over a reload or a restart of the account.
    /// - Parameter position: The position behind which events are told; nil: from now on.
    /// - Throws: a failure of the connection.
    func tellChanges(
        behind position: ChangePosition?, in account: String, _ fields: [String: String],
        on connection: ControlConnection
    ) async throws {
        var position = position
        var first: EventFeedReader?
        defer { first?.end() }
        let isBegun = try await beginStream(of: account, fields, on: connection) { host throws(Failure) in
            if let last = fields[Self.lastEventField], !last.isEmpty {
                guard let known = ChangePosition(last) else {
                    throw Failure(.usage, "the field Last-Event-ID is no position: \(last)")
                }
                position = known
            }
            if let position { try await refuse(position, ofOthersThan: account) }
            first = try await host?.changes(behind: position)
        }
        guard isBegun else { return }
        let clock = hosting.options.clock
        var (count, told) = (0, clock.awake())
        // A reader from now on learns where it begins.
        var owesBookmark = position == nil
        while true {
            var next = first
            first = nil
            if next == nil {
                next = try await reopened(account, on: connection) { host throws(Failure) in
                    try await host.changes(behind: position)
                }
            }
            guard var reader = next else { return }
            defer { reader.end() }
            while true {
                position = reader.position
                if owesBookmark || clock.awake() - told >= Self.bookmarkInterval {
                    count += 1
                    let event = FeedEvent(position: reader.position, content: .bookmark)
                    try await connection.send(Self.text([event], after: count - 1, of: account, at: clock.agesTo()))
                    (owesBookmark, told) = (false, clock.awake())
                }
                let left = max(.milliseconds(1), Self.bookmarkInterval - (clock.awake() - told))
                let news = try await awaited(on: connection) { [reader] () async throws(Failure) in
                    var reader = reader
                    return (try await reader.next(within: left), reader)
                }
                guard case .success(let (events, later)) = news else { break }
                reader = later
                guard !events.isEmpty else { continue }
                try await connection.send(Self.text(events, after: count, of: account, at: clock.agesTo()))
                (count, told) = (count + events.count, clock.awake())
            }
        }
    }

    /// Refuses a position that is another account's.
    private func refuse(_ position: ChangePosition, ofOthersThan account: String) async throws(Failure) {
        let phases = hosting.phases
        if let host = phases[account]?.host, try await host.changePosition().epoch == position.epoch { return }
        for (name, phase) in phases where name != account {
            guard let host = phase.host, let other = try? await host.changePosition() else { continue }
            if other.epoch == position.epoch { throw .positionOfOther(position, name) }
        }
    }

    private static func text(
        _ events: [FeedEvent], after count: Int, of account: String, at time: Timestamp
    ) -> [UInt8] {
        var text: [UInt8] = []
        for (index, event) in events.enumerated() {
            let json = JSONValue(event, number: count + index + 1, account: account, time: time)
            text += "id: \(event.position)\nevent: change\ndata: \(json.text)\n\n".utf8
        }
        return text
    }
}

extension Failure {
    /// The refusal of a position that is another account's.
    static func positionOfOther(_ position: ChangePosition, _ account: String) -> Failure {
        Failure(
            .badData, "\(position) is a position of the account `\(account)`",
            hint: "each account has positions of its own; `larder status --json` shows the newest one")
    }
}

extension ChangePosition {
    /// Reads the parameters of a target that asks for a change feed.
    /// - Returns: nil if it names no position.
    /// - Throws: `usage` if a parameter is not known, is given twice, or is no position.
    init?(parameters target: String) throws(Failure) {
        guard let components = URLComponents(string: "http://larder" + target) else {
            throw Failure(.usage, "the parameters of \(target) cannot be read")
        }
        let items = components.queryItems ?? []
        if let unknown = items.first(where: { $0.name != "since" }) {
            throw Failure(.usage, "there is no parameter `\(unknown.name)`")
        }
        guard items.count < 2 else { throw Failure(.usage, "the parameter `since` is given twice") }
        guard let text = items.first?.value else {
            if items.isEmpty { return nil }
            throw Failure(.usage, "the parameter `since` is no position: EPOCH:NUMBER")
        }
        guard let position = ChangePosition(text) else {
            throw Failure(.usage, "the parameter `since` is no position: \(text)")
        }
        self = position
    }
}
