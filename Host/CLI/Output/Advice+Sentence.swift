import Model

extension Advice {
    /// The advice as a sentence that names the command to run, without a full stop.
    var sentence: String {
        switch self {
        case .text(let text): text
        case .both(let first, let second): "\(first.sentence); \(second.sentence)"

        case .checkCredentials:
            "check username, password or token in the config; `larder status` shows the time of the next try"
        case .verifyAccount: "`larder account verify` asks whether to go on; `larder issue list` shows the choices"
        case .verifyAccountAgain: "`larder account verify` asks again"
        case .runFirst: "Run `larder run --once` first"
        case .runToUpgrade: "Run `larder run --once`, which upgrades it"
        case .resume: "`larder resume` lets it go on"
        case .runQueued: "the next `larder run` continues the queued actions"
        case .traceCalls: "`larder run --once --trace FILE` writes down each call"
        case .restoreDatabase:
            "`larder check --restore` replaces it by the newest sound backup; the local copies stay"
        case .restoreDatabaseAgain: "Run `larder check --restore` again"

        case .runAs(let user): "`\(Self.command(as: user, CommandLine.arguments))` runs it as that user"

        case .listItems: "`larder ls -r` lists what is known of the server"
        case .listRemovedItems: "`larder ls -r --removed` lists what is known"
        case .seeItems(let folder): "See `larder ls \(Self.word(folder))`"
        case .unpin(let path): "`larder unpin \(Self.word(path))` unpins it with everything below it"

        case .showPolicy: "`larder policy list` shows it"
        case .listPolicies: "`larder policy list` shows all"
        case .listInternalPolicies: "`larder policy list --internal` shows all"
        case .seePolicies: "See `larder policy list`"
        case .seePoliciesCovering(let path):
            "Nothing needs to be done; `larder policy list --path \(Self.word(path))` shows what covers it"
        case .updatePolicy(let name): "`larder policy update \(Text.word(name))` changes it"
        case .updatePolicyByHistory(let id):
            "`larder policy update \(Text.word(id.text))` sets the values that you want; see `larder policy history`"
        case .removePolicy(let id): "`larder policy remove \(Text.word(id.text))` removes that policy"
        case .seePolicyHistory: "`larder policy history` lists the changes"
        case .seePolicyInHistory: "`larder policy history` shows what happened to the policy"
        case .deletePolicyHistory(let project):
            "`larder project delete \(project.map(Text.word) ?? "ID")` deletes the history, and a new one is started"

        case .listClaims: "`larder claim list` shows all claims"
        case .seeClaims: "See `larder claim list`"
        case .getAfterClaim(let path):
            "Get the file when the claim has ended; `larder claim list \(Self.word(path))` shows the claim"
        case .removeClaim(let id): "Choose another id, or run `larder claim remove \(Text.word(id.text))` first"

        case .listSyncRecords: "`larder sync list` shows all"
        case .changeStaysQueued(let id, let isAtWork):
            "the change stays queued as record \(id), for "
                + (isAtWork ? "the running host" : "`larder run`") + "; `larder sync cancel \(id)` takes it back"
        case .changesStayQueued(let count, let isAtWork):
            "\(count) changes stay queued, for " + (isAtWork ? "the running host" : "`larder run`")
                + "; `larder sync list` shows them"
        case .replaceFile: "Choose another name, or write --replace to make a new version of it"
        case .listIssues: "`larder issue list` shows all"
        case .answerIssue(let id): "Resolve issue \(id); `larder issue list` shows its choices"
        case .applyHeldRemovals(let id): "`larder issue resolve \(id) apply` removes them here; `wait` keeps them"

        case .listLoops: "`larder loop list` shows all"
        case .enableLoop(let key): "`larder loop enable \(Text.word(key.description))` enables it"

        case .listPlugins: "`larder plugin list` says why"
        case .explainPlugin(let id):
            "the plugin is left out for ten minutes; `larder plugin why \(Text.word(id.shortName))` tells more"
        case .disablePlugin(let id):
            "the next start leaves the plugin out; `larder plugin disable \(Text.word(id.shortName))` turns the plugin off"
        case .enablePlugin(let library): "`larder plugin enable \(Text.word(library))` adds it to the config"
        case .retryPlugin(let id, let isLeftOutForGood):
            "`larder plugin retry \(Text.word(id.shortName))`, or another build of the plugin, lets it run again"
                + (isLeftOutForGood ? "" : " sooner")
        }
    }
}

extension Advice {
    /// Returns a command line as root types it to have it carried out as another user.
    /// - Parameter user: the user's name or number.
    static func command(as user: String, _ arguments: [String]) -> String {
        let isNumber = user.unicodeScalars.allSatisfy { ("0"..."9").contains($0) }
        let start =
            isNumber ? "setpriv --reuid=\(user) --regid=\(user) --clear-groups" : "runuser -u \(Text.word(user)) --"
        return ([start] + arguments.map(Text.word)).joined(separator: " ")
    }

    /// A path as one word of a command that a person may copy.
    private static func word(_ path: ItemPath) -> String { Text.word(path.text) }
}

extension Failure {
    /// The advice as a sentence; nil if there is none.
    var advice: String? { hint?.sentence }
}
