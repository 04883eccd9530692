import ArgumentParser
import Core
import Model

struct AccountVerify: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Try the logins of the accounts now, and approve what has to be approved.",
        discussion: """
            Before a server gets the password, these have to be approved: plain HTTP to another machine, a server of \
            an old version, a redirect to another server, and a key that was not seen before where the config says \
            trust: pinned. On a terminal each is asked; otherwise `larder issue resolve` answers. What was rejected \
            before is asked again.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let (_, accounts, process) = try await global.openPlugins(console) { config throws(Failure) in
            try config.namedAccounts()
        }
        let person = Person(console)
        var failures: [Failure] = []
        for account in accounts {
            do throws(Failure) {
                let host = try await process.open(account.bookmark) { () async throws(Failure) in
                    try await account.readSecret()
                }
                do throws(Failure) {
                    try await verify(host, person, console)
                } catch {
                    failures.append(error)
                }
                try await host.close()
            } catch {
                failures.append(error)
            }
        }
        try await process.close()
        return failures
    }

    private func verify(_ host: AccountHost, _ person: Person, _ console: Console) async throws(Failure) {
        let name = host.bookmark.name
        var asksAgain = true
        while true {
            switch try await host.perform(Accounts.Verify(asksAgain: asksAgain)) {
            case .works(let server):
                if global.isJSON {
                    console.print(JSONValue(verified: name, server: server))
                } else {
                    console.print("\(name): the login works" + (server.map { ": \($0.name)" } ?? ""))
                }
                return
            case .asks(let issue):
                guard !global.isJSON, person.isThere else {
                    console.print(
                        global.isJSON
                            ? JSONValue(verified: name, issue: issue).text : "\(name): it waits for an approval")
                    if !global.isJSON { for line in IssueText(issue).lines { console.print(line) } }
                    throw Failure(.denied, "\(name): \(issue.message)", hint: .answerIssue(issue.id))
                }
                console.note("\(name): \(Text.visible(issue.message))", as: .warning)
                let isApproved = try await person.agrees(to: "Approve?")
                try await host.perform(Issues.Answer(issue.id, choice: isApproved ? "approve" : "reject"))
                asksAgain = false
            }
        }
    }
}

extension JSONValue {
    fileprivate init(verified account: String, server: ServerReport? = nil, issue: Issue? = nil) {
        self = .object([
            "account": .string(account), "works": .bool(issue == nil),
            "product": .string(server?.product), "version": .string(server?.version), "root": .string(server?.root),
            "issue": issue.map { JSONValue($0) } ?? .null,
        ])
    }
}
