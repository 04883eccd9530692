import LarderSDK

/// Which items are to be here, and which no longer, with these policies.
struct Rules {
    /// What the policies cover; nil: nothing.
    let covered: Condition?
    /// What is covered and not here as it should be; nil: nothing is covered.
    let match: Condition?
    /// What this plugin brought here and is covered no more.
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
        // A file that something else brought here is adopted; one that the server has newer is replaced.
        let isNotAsItShouldBe: Condition =
            .type == .file && .cloudStatus == .localCopy && (!isOurs || .remoteVersion == .newer)
        self.covered = covered
        match = !.removed && (.cloudStatus == .cloudOnly || isNotAsItShouldBe) && covered
        cleanup = unwanted && !covered
    }

    /// The condition of a policy for a folder and all below it, or for a path of which nothing is known yet.
    static func below(_ path: String) -> Condition {
        path == "/" ? .path.startsWith("/") : .path == path || .path.startsWith(path + "/")
    }

    /// The condition of a policy for a file, which goes with the file wherever it is moved.
    static func file(_ localID: String) -> Condition { .localID == localID }

    /// When a policy is of no use any more.
    static func gone(_ localID: String) -> Condition { !.removed && .localID == localID }
}
