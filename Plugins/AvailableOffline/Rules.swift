import LarderSDK

/// The conditions that follow from the policies: which items to keep here, and which copies to remove.
struct Rules {
    /// The items that the policies cover. Nil: none.
    let covered: Condition?
    /// The covered items that are not here, or not as they should be, and are not on their way. Nil: no item is covered.
    let match: Condition?
    /// The copies of this plugin that are no longer covered.
    let cleanup: Condition

    private static let trigger = "availableOffline"

    init(policies: [ItemPolicy]) {
        let isOurs: Condition = .downloadTrigger == Self.trigger
        let unwanted: Condition = !.removed && .cloudStatus == .localCopy && isOurs
        guard !policies.isEmpty else {
            covered = nil
            match = nil
            cleanup = unwanted
            return
        }
        let covered = Condition.any(of: policies.map { Condition(text: $0.condition) })
        // The plugin adopts a file with another cause, and replaces a file of which the server has a newer version.
        let isNotAsItShouldBe: Condition =
            .type == .file && .cloudStatus == .localCopy && (!isOurs || .remoteVersion == .newer)
        self.covered = covered
        // Most items of a pass that follows a first listing were requested when they were listed. A copy that comes for
        // another requester is adopted when it is here.
        match =
            !.removed && (.cloudStatus == .cloudOnly || isNotAsItShouldBe) && !.isInProgress(.downloading) && covered
        cleanup = unwanted && !covered
    }

    /// Returns the condition of a policy for a folder and everything below it, or for a path whose item is not known
    /// yet.
    static func below(_ path: String) -> Condition {
        path == "/" ? .path.startsWith("/") : .path == path || .path.startsWith(path + "/")
    }

    /// Returns the condition of a policy for a file. It stays true wherever the file is moved.
    static func file(_ localID: String) -> Condition { .localID == localID }

    /// Returns the condition whose last item ends a policy: when no item meets it, the policy is of no use any more.
    static func gone(_ localID: String) -> Condition { !.removed && .localID == localID }
}
