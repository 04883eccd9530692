/// What somebody can do about a failure.
///
/// The program that shows it knows how it is asked for that, such as by which command, and makes a sentence of it. A text says all
/// by itself and names no command.
public enum Advice: Hashable, Sendable {
    /// A sentence without a full stop.
    case text(String)
    /// One after the other.
    indirect case both(Advice, Advice)

    // The account and its run.

    /// The server refused the name and the password or token of the config; the account's state tells when it is asked again.
    case checkCredentials
    /// Nothing was done for the account yet: one run comes first.
    case runFirst
    /// One run brings a database of an older schema up to date.
    case runToUpgrade
    /// The next run goes on with what is queued.
    case runQueued
    /// One run with a trace writes down each call into a plugin.
    case traceCalls
    /// The newest sound backup can take the damaged database's place.
    case restoreDatabase
    /// A restore that did not end has to be done again.
    case restoreDatabaseAgain

    // Items.

    /// The list of all items shows what is known of the server.
    case listItems
    /// The same, with those that are gone.
    case listRemovedItems
    /// The list of a folder's items shows what is there.
    case seeItems(in: ItemPath)
    /// The end of a pin ends what keeps a file, and all else that it covers.
    case unpin(ItemPath)

    // Policies.

    /// The list of policies shows the one that is meant.
    case showPolicy
    /// The list of policies shows all that are not internal.
    case listPolicies
    /// The same, with internal ones.
    case listInternalPolicies
    /// The list of policies shows which there are, to compare.
    case seePolicies
    /// Nothing needs to be done; the list of policies for the item shows what covers it.
    case seePoliciesCovering(ItemPath)
    /// A change of the policy with this id or identifier does what adding it would.
    case updatePolicy(named: String)
    /// A change of the policy does it in another way; the policies' history shows what was done to it.
    case updatePolicyByHistory(PolicyID)
    /// The policy can be removed.
    case removePolicy(PolicyID)
    /// The policies' history shows what was done.
    case seePolicyHistory
    /// The policies' history shows what became of the one that is meant.
    case seePolicyInHistory
    /// The project that is the policies' history can be deleted, so that a new history begins. The project's id, if it is known.
    case deletePolicyHistory(project: String?)

    // Claims.

    case listClaims
    /// The list of claims shows which there are, to compare.
    case seeClaims
    /// The file can be fetched when the claim that the list of its claims shows is over.
    case getAfterClaim(on: ItemPath)
    /// Another claim's id can be chosen, or that claim removed.
    case removeClaim(ClaimID)

    // What waits.

    case listSyncRecords
    case listIssues
    /// The issue is to be answered; the list of issues has its choices.
    case answerIssue(IssueID)
    /// The issue about records that are held is answered by having them removed here too, or by waiting.
    case applyHeldRemovals(IssueID)

    // Event loops.

    case listLoops
    /// The loop can be enabled.
    case enableLoop(LoopKey)

    // Plugins.

    /// The list of plugins says why one is not at work.
    case listPlugins
    /// The plugin is left out for ten minutes; more is known of why.
    case explainPlugin(PluginID)
    /// The next start leaves the plugin out; it can be disabled.
    case disablePlugin(PluginID)
    /// A library that was found can be named in the config. The library's file name.
    case enablePlugin(library: String)
    /// The plugin runs again when somebody lets it, or in another build: before the time when it would by itself, if there is one.
    case retryPlugin(PluginID, isLeftOutForGood: Bool)
}

/// Advice as it is shown where no program makes a sentence of it.
extension Advice: CustomStringConvertible {
    public var description: String {
        switch self {
        case .text(let text): text
        case .both(let first, let second): "\(first); \(second)"
        default: "see the program's help"
        }
    }
}
