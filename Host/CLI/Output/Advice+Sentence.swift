import Model

extension Advice {
    /// The advice with the command that does it, without a full stop.
    var sentence: String {
        switch self {
        case .text(let text): text
        case .both(let first, let second): "\(first.sentence); \(second.sentence)"

        case .checkCredentials:
            "check username, password or token in the config; `larder status` tells when it is asked again"
        case .runFirst: "Run `larder run --once` first"
        case .runToUpgrade: "Run `larder run --once`, which upgrades it"
        case .runQueued: "what is queued goes on with the next `larder run`"
        case .traceCalls: "`larder run --once --trace FILE` writes down each call"
        case .restoreDatabase:
            "`larder check --restore` puts the newest sound backup in its place; the local copies stay"
        case .restoreDatabaseAgain: "Run `larder check --restore` again"

        case .listItems: "`larder ls -r` lists what is known of the server"
        case .listRemovedItems: "`larder ls -r --removed` lists what is known"
        case .seeItems(let folder): "See `larder ls \(folder)`"
        case .unpin(let path): "`larder unpin \(path)` ends that for all that it covers"

        case .showPolicy: "`larder policy list` shows it"
        case .listPolicies: "`larder policy list` shows all"
        case .listInternalPolicies: "`larder policy list --internal` shows all"
        case .seePolicies: "See `larder policy list`"
        case .seePoliciesCovering(let path):
            "Nothing needs to be done; `larder policy list --path \(path)` shows what covers it"
        case .updatePolicy(let name): "`larder policy update \(name)` changes it"
        case .updatePolicyByHistory(let id):
            "`larder policy update \(id)` changes it as you like; see `larder policy history`"
        case .removePolicy(let id): "`larder policy remove \(id)` takes that one away"
        case .seePolicyHistory: "`larder policy history` shows what was done"
        case .seePolicyInHistory: "`larder policy history` shows what became of it"
        case .deletePolicyHistory(let project):
            "`larder project delete \(project ?? "ID")` forgets the history, and a new one begins"

        case .listClaims: "`larder claim list` shows all claims"
        case .seeClaims: "See `larder claim list`"
        case .getAfterClaim(let path): "Get it when the claim is over; `larder claim list \(path)` shows it"
        case .removeClaim(let id): "Choose another id, or `larder claim remove \(id)` first"

        case .listSyncRecords: "`larder sync list` shows all"
        case .listIssues: "`larder issue list` shows all"
        case .answerIssue(let id): "Answer issue \(id): `larder issue list`"
        case .applyHeldRemovals(let id): "`larder issue resolve \(id) apply` removes it here; `wait` keeps it"

        case .listLoops: "`larder loop list` shows all"
        case .enableLoop(let key): "`larder loop enable \(key)` switches it on"

        case .listPlugins: "`larder plugin list` says why"
        case .explainPlugin(let id):
            "it is left out for ten minutes; `larder plugin why \(id.shortName)` tells more"
        case .disablePlugin(let id):
            "the next start leaves the plugin out; `larder plugin disable \(id.shortName)` does without it"
        case .enablePlugin(let library): "`larder plugin enable \(library)` names it there"
        case .retryPlugin(let id, let isLeftOutForGood):
            "`larder plugin retry \(id.shortName)`, or another build of it, lets it run again"
                + (isLeftOutForGood ? "" : " before")
        }
    }
}

extension Failure {
    /// What to do about it, in a sentence.
    var advice: String? { hint?.sentence }
}
