import ArgumentParser
import Core
import Model

struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Show what is shared, by me and with me.", subcommands: [ShareList.self])
}

struct ShareList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the shares that are known, without network.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let reader = try global.loadConfig().oneAccount().reader()
        if global.isJSON {
            try await reader?.shares { console.print(JSON($0)) }
            try reader?.close()
            return []
        }
        let shares = Collector<CachedShare>()
        try await reader?.shares { shares.add($0) }
        try reader?.close()
        if shares.all.isEmpty { console.note("no shares are known yet; `larder run --once` asks the server") }
        var table = Table(["id", "direction", "path", "type", "with", "until", "state"])
        for share in shares.all {
            let other = share.direction == "withMe" ? share.owner.map { "from \($0)" } : share.sharedWith ?? share.url
            table.add([
                share.id.text, share.direction ?? "-", share.path ?? "-", share.shareType?.text ?? "-", other ?? "-",
                share.expiration ?? "-", share.state?.text ?? "-",
            ])
        }
        for line in table.lines { console.print(line) }
        return []
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

extension JSON {
    fileprivate init(_ given: CachedShare.Given?) {
        switch given {
        case .number(let number): self = .int(number)
        case .word(let word): self = .text(word)
        case nil: self = .null
        }
    }

    init(_ share: CachedShare) {
        self = .object([
            "id": .text(share.id.text), "direction": .text(share.direction), "path": .text(share.path),
            "shareType": JSON(share.shareType), "owner": .text(share.owner), "sharedWith": .text(share.sharedWith),
            "permissions": JSON(share.permissions), "expiration": .text(share.expiration), "url": .text(share.url),
            "state": JSON(share.state),
        ])
    }
}
