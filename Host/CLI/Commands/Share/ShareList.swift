import ArgumentParser
import Core
import Model

struct ShareList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the known shares, without using the network.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        if global.isJSON {
            try await global.withReader { reader throws(Failure) in
                try await reader.shares { console.print(JSONValue($0)) }
            }
            return []
        }
        let shares = Collector<CachedShare>()
        let loops = try await global.withReader { reader throws(Failure) in
            try await reader.shares { shares.add($0) }
            return try await reader.loops()
        }
        if shares.all.isEmpty { console.note(Asked(loops ?? []).words(for: "shares")) }
        // The id stands last, because the ids of some servers are longer than a line.
        var table = Table(["path", "direction", "type", "with", "until", "state", "id"])
        for share in shares.all {
            let other = share.direction == "withMe" ? share.owner.map { "from \($0)" } : share.sharedWith ?? share.url
            table.add([
                share.path ?? "-", share.direction ?? "-", share.typeWord ?? "-", other ?? "-",
                Text.time(share.expires), share.state?.text ?? "-", share.id.text,
            ])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}

extension CachedShare {
    /// The share's type as a word. OCS uses numbers for the types.
    fileprivate var typeWord: String? {
        guard case .number(let number) = shareType else { return shareType?.text }
        let words: [Int64: String] = [
            0: "user", 1: "group", 3: "link", 4: "email", 6: "federated", 7: "team", 8: "guest", 9: "federated group",
            10: "conversation",
        ]
        return words[number] ?? "\(number)"
    }
}

extension CachedShare.Given {
    fileprivate var text: String {
        switch self {
        case .number(let number): "\(number)"
        case .word(let word): word
        }
    }
}

extension JSONValue {
    fileprivate init(_ given: CachedShare.Given?) {
        switch given {
        case .number(let number): self = .integer(number)
        case .word(let word): self = .string(word)
        case nil: self = .null
        }
    }

    init(_ share: CachedShare) {
        self = .object([
            "id": .string(share.id.text), "direction": .string(share.direction), "path": .string(share.path),
            "shareType": JSONValue(share.shareType), "owner": .string(share.owner),
            "sharedWith": .string(share.sharedWith),
            "permissions": JSONValue(share.permissions), "expiration": .time(share.expires), "url": .string(share.url),
            "state": JSONValue(share.state),
        ])
    }
}
