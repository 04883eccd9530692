import Model

/// What a reader of a live query has still to be told, as a value: ids alone.
///
/// The reader first gets the list in parts, and then what changes in it. While it has only a part, it is told the changes of
/// that part alone, so that nothing is kept of a list that it has not taken yet.
///
/// ```swift
/// var backlog = QueryBacklog()
/// backlog.fill(from: machine)
/// while let told = backlog.take() {
///     list = told.set.applied(to: list)
///     backlog.fill(from: machine)
/// }
/// ```
struct QueryBacklog: Sendable {
    /// The largest number of items that are told at once.
    static let mostAtOnce = 128
    /// The largest number of changes that are kept. A reader that misses more gets the list anew.
    static let mostPending = 4_096

    /// What a reader is told at once.
    struct Told: Sendable {
        var set: ChangeSet
        var state: LiveQueryState
        /// Whether the reader's list is empty before.
        var isAnew = false
        /// What is shared with the readers that are told the same; nil if nobody is.
        var shared: SharedUpdate?
    }

    private let most: (atOnce: Int, pending: Int)
    /// Whether the list is to be told from its beginning.
    var isDue = true
    /// How far the list is to be believed.
    var state = LiveQueryState.contentsFromCache
    /// The items that come next, and the position of the first of them.
    private var part: [ItemRowID] = []
    private var start = 0
    /// Whether ``part`` is the beginning of the list.
    private var begins = false
    /// The number of items that the reader has when it has taken everything: the first ones of the list.
    private var count = 0
    /// Whether these are all.
    private(set) var isWhole = false
    /// What changed after ``part`` was taken out of the list.
    private var pending = ChangeSet()
    /// What the readers share of whom ``pending`` is the same; nil if it is this reader's alone.
    private var shared: SharedUpdate?
    private var toldState: LiveQueryState?
    /// Whether the list was told before, so that the next one is told anew.
    private var isAnew = false

    /// Creates what is owed to a reader that has nothing.
    init(mostAtOnce: Int = Self.mostAtOnce, mostPending: Int = Self.mostPending) { most = (mostAtOnce, mostPending) }

    /// Whether there is something to tell.
    var hasNews: Bool { !isDue && (begins || !part.isEmpty || !pending.isEmpty || toldState != believed) }

    /// Whether a part of the list is wanted.
    var isWaiting: Bool { isDue || (!isWhole && !begins && part.isEmpty && pending.isEmpty) }

    /// How far what the reader has is to be believed. What the server had is not all told before the whole list and all
    /// changes are.
    private var believed: LiveQueryState {
        state == .idle && !(isWhole && part.isEmpty && pending.isEmpty) ? .contentsFromCache : state
    }

    /// Notes what changed in the list.
    /// - Parameters:
    ///   - list: The list as it is now.
    ///   - shared: What is shared with the readers to whom nothing else is told.
    mutating func note(_ set: ChangeSet, _ list: QueryMachine, _ shared: SharedUpdate?) {
        guard !isDue else { return }
        // What is left of the contents may be read after another reader's set, and be newer.
        self.shared = isWhole && pending.isEmpty && part.isEmpty && !begins ? shared : nil
        if isWhole {
            (pending, count) = (pending.followed(by: set), list.count)
        } else {
            let (first, left) = set.clipped(toFirst: count)
            (pending, count) = (pending.followed(by: first), left)
        }
        if pending.count > most.pending { isDue = true }
    }

    /// Takes the next part out of the list, if the reader has taken everything else. Changes up to this state of the list
    /// were noted.
    mutating func fill(from list: QueryMachine) {
        guard isWaiting else { return }
        if isDue {
            isAnew = isAnew || toldState != nil
            (isDue, begins, toldState) = (false, true, nil)
            (pending, shared, count) = (ChangeSet(), nil, 0)
        }
        (part, start) = (list.ids(from: count, most: most.atOnce), count)
        count += part.count
        isWhole = count == list.count
    }

    /// Takes what the reader is told next; nil if there is nothing.
    mutating func take() -> Told? {
        guard hasNews else { return nil }
        var told = Told(set: ChangeSet(), state: state)
        if begins || !part.isEmpty {
            if begins { (told.isAnew, isAnew) = (isAnew, false) }
            told.set.insertions = part.enumerated().map { .init($0.element, at: start + $0.offset) }
            (part, begins) = ([], false)
        } else {
            told.set = pending.takeFirst(most.atOnce)
            if pending.isEmpty { told.shared = shared }
            shared = nil
        }
        told.state = believed
        toldState = told.state
        return told
    }
}
