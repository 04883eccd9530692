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
        let person = Person(console)
        var failures: [Failure] = []
        for account in try global.loadConfig().namedAccounts() {
            var one = global
            one.account = account.bookmark.name
            do throws(Failure) { try await verify(account.bookmark.name, one, person, console) } catch {
                failures.append(error)
            }
        }
        return failures
    }

    /// - Parameter global: the options with the account's name.
    private func verify(
        _ name: String, _ global: GlobalOptions, _ person: Person, _ console: Console
    ) async throws(Failure) {
        var asksAgain = true
        while true {
            switch try await carryOut(Accounts.Verify(asksAgain: asksAgain), global, console, asksServer: true) {
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
                try await carryOut(
                    Issues.Answer(issue.id, choice: isApproved ? "approve" : "reject"), global, console)
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
            "issue": JSONValue(issue),
        ])
    }
}
