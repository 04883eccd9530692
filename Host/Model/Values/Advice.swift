/// The advice to a person about a failure.
///
/// The program that shows the failure makes a sentence of the advice. The sentence can name the program's own command.
/// An advice of the case `text` is a whole sentence and names no command.
public enum Advice: Hashable, Sendable {
    /// The advice in this sentence, which has no full stop.
    case text(String)
    /// The first advice, then the second one.
    indirect case both(Advice, Advice)

    // The account and its run.

    /// The advice to check the username, the password or the token in the config, since the server refused them. The
    /// account's status shows the time of the next try.
    case checkCredentials
    /// The advice to verify the account, which asks for what is to be approved.
    case verifyAccount
    /// The advice to verify the account, which asks again for what was rejected.
    case verifyAccountAgain
    /// The advice to run the account once first, since no run has been made yet.
    case runFirst
    /// The advice to run the account once, so that the run upgrades a database with an older schema.
    case runToUpgrade
    /// The advice to end the account's pause.
    case resume
    /// The advice to run the account again. The next run continues the queued actions.
    case runQueued
    /// The advice to run the account once with a trace. The trace contains each call into a plugin.
    case traceCalls
    /// The advice to replace the damaged database by the newest sound backup. The local copies stay.
    case restoreDatabase
    /// The advice to repeat a restore that did not end.
    case restoreDatabaseAgain

    /// The advice to run the command as the user with this name, or as the one with this number if it has no name.
    case runAs(user: String)

    // Items.

    /// The advice to list all items that are known of the server.
    case listItems
    /// The advice to list all items that are known, including the removed ones.
    case listRemovedItems
    /// The advice to list the items of this folder.
    case seeItems(in: ItemPath)
    /// The advice to unpin this item. The items below it are unpinned too.
    case unpin(ItemPath)

    // Policies.

    /// The advice to list the policies, in order to see the policy in question.
    case showPolicy
    /// The advice to list all policies except the internal ones.
    case listPolicies
    /// The advice to list all policies, including the internal ones.
    case listInternalPolicies
    /// The advice to see the list of policies.
    case seePolicies
    /// The advice to do nothing. The list of policies for this item shows the policies that cover it.
    case seePoliciesCovering(ItemPath)
    /// The advice to change the existing policy instead of adding one. The value is the policy's id or identifier.
    case updatePolicy(named: String)
    /// The advice to set the wanted values in the policy with this id. The history of the policies shows the changes.
    case updatePolicyByHistory(PolicyID)
    /// The advice to remove the policy with this id.
    case removePolicy(PolicyID)
    /// The advice to see the changes in the history of the policies.
    case seePolicyHistory
    /// The advice to see in the history of the policies what happened to the policy in question.
    case seePolicyInHistory
    /// The advice to delete the project with the history of the policies, so that a new history begins. The value is
    /// the project's id, if it is known.
    case deletePolicyHistory(project: String?)

    // Claims.

    /// The advice to list all claims.
    case listClaims
    /// The advice to see the list of claims.
    case seeClaims
    /// The advice to get the file when the claim on it has ended. The list of the claims on this item shows the claim.
    case getAfterClaim(on: ItemPath)
    /// The advice to choose another id, or to remove the claim with this id first.
    case removeClaim(ClaimID)

    // What waits.

    /// The advice to list all sync records.
    case listSyncRecords
    /// The advice that a change of the server is still queued as this record: the running host makes it, or the next
    /// run if no host is at work. The change can be taken back.
    case changeStaysQueued(SyncRecordID, isAtWork: Bool)
    /// The advice that this number of changes of the server are still queued: the running host makes them, or the next
    /// run if no host is at work.
    case changesStayQueued(Int, isAtWork: Bool)
    /// The advice to make the file a new version of the existing one at this path.
    case replaceFile(ItemPath)
    /// The advice to list all issues.
    case listIssues
    /// The advice to resolve the issue with this id. The list of issues shows its choices.
    case answerIssue(IssueID)
    /// The advice to resolve the issue with this id, which is about held removals. The choice `apply` removes the items
    /// here, and the choice `wait` keeps them.
    case applyHeldRemovals(IssueID)

    // Event loops.

    /// The advice to list all event loops.
    case listLoops
    /// The advice to enable this event loop.
    case enableLoop(LoopKey)

    // Plugins.

    /// The advice to list the plugins. The list gives the reason why a plugin does not work.
    case listPlugins
    /// The advice to ask why this plugin is left out. The plugin is left out for ten minutes.
    case explainPlugin(PluginID)
    /// The advice to turn this plugin off. The next start leaves the plugin out in any case.
    case disablePlugin(PluginID)
    /// The advice to enable a library that was found, which adds the library to the config. The value is the library's
    /// file name.
    case enablePlugin(library: String)
    /// The advice to let this plugin run again, by a command or by another build of the plugin. A plugin that is not
    /// left out for good runs again later in any case.
    case retryPlugin(PluginID, isLeftOutForGood: Bool)
}

/// Advice is sent to another program as its sentence. The program that sends it puts a function that makes the sentence
/// into the encoder's ``Advice/words``; otherwise it is sent as it is shown where no program makes a sentence of it.
extension Advice: Codable {
    /// The key of the function that makes sentences, of the type `@Sendable (Advice) -> String`, among an encoder's
    /// user info.
    public static let words = CodingUserInfoKey(rawValue: "adviceWords")!

    public init(from decoder: any Decoder) throws {
        self = .text(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        let words = encoder.userInfo[Self.words] as? @Sendable (Advice) -> String
        var container = encoder.singleValueContainer()
        try container.encode(words?(self) ?? description)
    }
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
