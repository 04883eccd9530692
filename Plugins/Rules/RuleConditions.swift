import LarderSDK

/// The conditions that follow from the rules: which files to bring, which copies to remove, and which files the rules
/// would bring and remove in turns.
///
/// A rule may depend on whether a file is here. A file is brought only if the rules keep it here once it is here too, and
/// removed only if no rule brings it back then. So the next run has nothing to do.
struct RuleConditions {
    /// What rules keep here, some of it perhaps only as long as it is among the newest. Nil: nothing.
    let covered: Condition?
    /// The copies that came by rules of which none is for them any more.
    let released: Condition
    /// Files that the rules do not bring, because they would not keep them. Nil: there are none.
    let notStaying: Condition?
    /// Copies that the rules do not remove, because they would bring them back. Nil: there are none.
    let returning: Condition?
    private let here: Condition?
    private let newest: Condition?
    /// The files of each rule that it decides about.
    private let members: [Condition]
    private let unwanted: Condition

    private static let isFile: Condition = !.removed && .type == .file
    private static let isOurs: Condition = .downloadTrigger == Rules.description.id
    private static let isUnpinned: Condition = .availableOffline == Coverage.none
    /// A copy that another plugin brought stays that plugin's.
    private static let isNobodys: Condition =
        .cloudStatus == .localCopy && (.downloadTrigger == "user" || .downloadTrigger == nil)
    private static let mayCome: Condition = isFile && isUnpinned && !.isInProgress(.downloading)
    private static let mayGo: Condition = isFile && .cloudStatus == .localCopy && isUnpinned

    init(_ list: RuleList) {
        here = list.decide { $0 == .here }
        newest = list.decide { $0 != .here && $0 != .away }
        members = list.rules.indices.map { Self.isFile && list.decides($0) }
        covered = Self.any(here, newest)
        let undecided = Self.isOurs && .all(of: list.rules.map { !$0.applies(when: .asItIs) })
        released = Self.mayGo && undecided
        unwanted = Self.any(list.decide { $0 == .away }, undecided) ?? undecided
        guard list.dependOnCopies else {
            (notStaying, returning) = (nil, nil)
            return
        }
        // A rule that keeps the newest must go on to be for the file itself: the place in the folder stays then.
        let staysNewest = Condition.any(
            of: list.newest.map { list.decides($0.index) && list.decides($0.index, when: .here) })
        let staysHere = list.decide(when: .here) { $0 == .here } ?? .any(of: [])
        notStaying = Self.any(here.map { $0 && !staysHere }, newest.map { $0 && !staysNewest })
            .map { Self.mayCome && (.cloudStatus == .cloudOnly || Self.isNobodys) && $0 }
        let unwanted = unwanted
        returning = list.decide(when: .away) { $0 != .away }
            .map { Self.mayGo && unwanted && $0 }
    }

    /// The files that a rule decides about.
    func members(of index: Int) -> Condition { members[index] }

    /// The files to download, and the copies to adopt or to bring up to date. Nil: none.
    /// - Parameter bringing: Those that the rules for the newest keep here.
    func match(_ bringing: Chosen) -> Condition? {
        guard let wanted = Self.any(here, bringing.condition(of: newest)) else { return nil }
        let isWrong =
            .cloudStatus == .cloudOnly || Self.isNobodys
            || Self.isOurs && .cloudStatus == .localCopy && .remoteVersion == .newer
        return .all(of: [Self.mayCome, isWrong, wanted] + (notStaying.map { [!$0] } ?? []))
    }

    /// The copies to remove.
    /// - Parameter leaving: Those that the rules for the newest keep away.
    func cleanup(_ leaving: Chosen) -> Condition {
        let wanted = Self.any(unwanted, leaving.condition(of: newest)) ?? unwanted
        return .all(of: [Self.mayGo, wanted] + (returning.map { [!$0] } ?? []))
    }

    private static func any(_ one: Condition?, _ other: Condition?) -> Condition? {
        let parts = [one, other].compactMap(\.self)
        return parts.isEmpty ? nil : .any(of: parts)
    }
}
