import CLarder
import Database
import Logging
import Model
import PluginHost

/// The calls of one processor in one run, in the original's order. They are made on the plugin's thread.
final class ProcessorRun: PluginRun {
    /// The number of calls with requests after which a run's requests are committed.
    private static let mostCalls = 1_000
    /// The number of uploads after which a run's requests are committed. Each holds an open file until then.
    private static let mostUploads = 100

    let policiesOwner: ItemPolicies
    let processor: PolicyProcessor
    let calls: ProcessorCalls
    private let run: RunQueue.Run
    private let trigger: Trigger
    /// The items that the run is about; nil for all items.
    private let scope: [ItemRowID]?
    private let version: Int
    /// A preview that notes the requests instead of carrying them out; nil if they are carried out.
    private let preview: RunPreview?
    let began: Timestamp
    /// The time that `now` stands for in conditions and claims.
    private let now: Timestamp
    private(set) var session: ReadSession?
    /// The number of the last transaction that the session sees.
    private var anchor: Int64 = 0
    /// Whether the session could not leave the log.
    private var keepsLog = false
    /// The requests that are not committed yet, by the calls that made them.
    private var asked: [[Intent]] = []
    /// The items whose deletion on the server the run requests.
    private var deletions: [LocalID] = []
    /// The number of uploads that are not committed yet.
    private var uploads = 0
    /// Whether any request for an item had an effect.
    private(set) var isFruitful = false
    /// The count of actions against the processor's maximum; nil without a maximum, and in a preview.
    private var pacing: Pacing?
    /// The stream whose current item the call is about, so that a wish about this item needs no search.
    private(set) var current: CursorSource?
    private(set) var policies: [ItemPolicy] = []

    init(
        _ owner: ItemPolicies, processor: PolicyProcessor, calls: ProcessorCalls, run: RunQueue.Run,
        policiesVersion: Int,
        preview: RunPreview? = nil
    ) {
        policiesOwner = owner
        self.processor = processor
        self.calls = calls
        self.run = run
        self.preview = preview
        trigger = preview?.trigger ?? run.cause.trigger
        scope = if case .items(let ids, _) = run.cause { ids } else { nil }
        version = policiesVersion
        began = owner.clock.now()
        now = preview?.time ?? owner.clock.agesTo()
    }

    /// Makes the calls of the run.
    /// - Throws: `Failure` if the database cannot be read or written; requests that were committed before stay.
    func perform() throws {
        let triggers = calls.triggers()
        guard !calls.isCancelled, triggers.contains(TriggerMask(trigger)) else { return }
        try inSession { try perform(triggers) }
    }

    /// Asks what the processor says of the item that the run is about.
    /// - Returns: The text; nil if the processor says nothing, or could not be asked.
    /// - Throws: `Failure` if the database cannot be read.
    func explanation() throws -> String? {
        guard calls.explains else { return nil }
        return try inSession {
            guard !calls.isCancelled, try updatePolicies(), !calls.isCancelled else { return nil }
            let source = try open(
                ConditionMatcher(.constant(true)), fields: calls.fields, in: scope, order: .path)
            let view = UnsafeMutablePointer<larder_item>.allocate(capacity: 1)
            view.initialize(to: emptyItemView())
            defer { view.deallocate() }
            current = source
            defer { current = nil }
            return try source.next(&view.pointee) ? calls.explain(view, of: source) : nil
        }
    }

    private func inSession<Result>(_ body: () throws -> Result) throws -> Result {
        let session = try ReadSession(policiesOwner.database)
        self.session = session
        anchor = try session.anchor()
        calls.begin(self)
        defer {
            let mistakes = calls.end()
            if preview == nil, let mistakes { policiesOwner.note(mistakes, of: calls.plugin, run) }
            session.close()
        }
        return try body()
    }

    private func perform(_ triggers: TriggerMask) throws {
        if preview == nil { pacing = Pacing(processor) }
        try countRecords()
        if try begin() {
            // The coverage is read each time, because the processor may just have learnt it.
            if processor.covers(try parsed(.policy)) { policiesOwner.coverageChanged() }
            try pass(.matching)
            try pass(.cleanup)
        }
        guard !calls.isCancelled else { return try commitAll() }
        calls.didPassTrigger(trigger)
        try commitAll()
        guard let pacing else { return }
        // A run over a few items does not tell whether other items are left.
        processor.isPending = pacing.isPending || (scope != nil && processor.isPending)
        if pacing.isPending, !triggers.contains(TriggerMask(.syncCapacity)) {
            calls.note("it has a maximum of records and left items out, but does not use the trigger syncCapacity")
        }
    }

    /// Makes the calls before the passes. A processor that failed in one of them may not know what it has to keep, so
    /// the passes are left out then.
    /// - Returns: Whether the passes may be made.
    private func begin() throws -> Bool {
        let isGiven = try updatePolicies()
        let isPrepared = try preflight()
        let hasEntered = calls.willEnterTrigger(trigger).isOK
        guard !isGiven || !isPrepared || !hasEntered else { return true }
        if !calls.isCancelled {
            let failed = !isGiven ? "updatePolicies" : !isPrepared ? "performPreflightOnPolicies" : "willEnterTrigger"
            calls.logError("Matching and cleanup are left out of this run, because \(failed) failed")
        }
        return false
    }

    private func updatePolicies() throws -> Bool {
        if let known = processor.policies(version: version) {
            policies = known
            return true
        }
        let kind = calls.kind
        policies = try policiesOwner.database.readBlocking { try $0.policies.all(kind: kind) }
        guard calls.updatePolicies(policies, trigger).isOK else { return false }
        processor.gave(policies, version: version)
        return true
    }

    private func preflight() throws -> Bool {
        guard trigger == .itemsChanged else { return calls.preflight(trigger, changed: nil).isOK }
        return calls.preflight(
            trigger,
            changed: try open(
                ConditionMatcher(.constant(true)), fields: calls.fields, in: scope, order: .path)
        ).isOK
    }

    private func pass(_ which: ProcessorCalls.Pass) throws {
        guard !calls.isCancelled, let condition = try parsed(which == .matching ? .match : .cleanup) else {
            return try commit()
        }
        preview?.conditions[which] = condition.condition
        let view = UnsafeMutablePointer<larder_item>.allocate(capacity: 1)
        view.initialize(to: emptyItemView())
        defer { view.deallocate() }
        defer { current = nil }
        let (calls, preview, each) = (calls, preview, calls.each(which, trigger))
        var isBegun = false
        var passed = 0
        reading: while true {
            // A source that does not change is not retained for each item.
            let source = try items(of: which, condition)
            let subject: any ItemSource = source
            if passed > 0 { try source.skip(passed) }
            current = source
            while try source.next(&view.pointee), !calls.isCancelled, try hasRoom() {
                if !isBegun {
                    calls.begin(which, trigger)
                    isBegun = true
                }
                each.perform(view, of: subject)
                preview?.performed(which, on: source.path)
                if asked.count >= Self.mostCalls || uploads >= Self.mostUploads { try commit() }
                passed += 1
                if passed % Self.mostCalls == 0, leaveLog() { continue reading }
            }
            break
        }
        if isBegun, !calls.isCancelled { calls.end(which, trigger) }
        try commit()
    }

    /// The actions that change the server.
    private static let changes = SyncRecord.Action.Kind.allCases.filter(\.changesServer)

    private func items(of pass: ProcessorCalls.Pass, _ condition: ConditionMatcher) throws(Failure) -> CursorSource {
        try open(
            condition, fields: calls.fields, in: scope, order: .path,
            without: pacing.map { pacing in
                (pacing.reason, (pass == .matching ? [.download] : [.removeLocalCopy, .purge]) + Self.changes)
            })
    }

    private func parsed(_ which: ProcessorCalls.Condition) throws(Failure) -> ConditionMatcher? {
        guard let text = calls.condition(which, trigger) else { return nil }
        let parsed: ParsedCondition
        do throws(ConditionError) {
            parsed = try processor.parse(text)
            // The policy condition takes part in what policies decide, so that it cannot depend on that.
            if which == .policy, case .unresolved = parsed { _ = try Condition(parsing: text) }
        } catch {
            calls.note("the \(which) condition for \(trigger.name) is not valid: \(error)")
            return nil
        }
        return try parsed.matcher(facts)
    }

    /// Reads the policies and claims.
    func facts() throws(Failure) -> ConditionFacts {
        let world = policiesOwner.world(now)
        do { return try policiesOwner.database.readBlocking { try ConditionFacts($0, world: world) } } catch {
            throw error as? Failure ?? Failure(.internal, "\(error)")
        }
    }

    func open(
        _ matcher: ConditionMatcher, fields: UInt64, in scope: [ItemRowID]?, order: ItemSelection.Order = .any,
        limit: Int64? = nil, without records: (reason: DownloadTrigger, actions: [SyncRecord.Action.Kind])? = nil
    ) throws(Failure) -> CursorSource {
        guard let session else { throw Failure(.internal, "A run has ended") }
        var selection = ItemSelection(now: now)
        (selection.rows, selection.order, selection.limit, selection.askedBy) = (scope, order, limit, records)
        var isWanted: ((Item) -> Bool)?
        if scope != nil, matcher.isIndexed {
            // A large condition is evaluated on the changed items alone. In SQL it would be evaluated for all items
            // first.
            isWanted = { [now] in matcher.matches($0, now: now) }
        } else {
            selection.condition = matcher.condition
        }
        let columns = isWanted == nil ? CursorSource.columns(for: fields) : .all
        return CursorSource(
            try session.items(columns, selection), fields: fields,
            files: policiesOwner.files,
            coverage: try AvailableOfflineCoverage(fields: fields, database: policiesOwner.database, now: now),
            claims: try ClaimedItems(fields: fields, database: policiesOwner.database, world: policiesOwner.world(now)),
            shares: try SharesOfItems(fields: fields, session), isWanted: isWanted)
    }

    /// Moves the run's session out of a long log.
    /// - Returns: Whether the stream must be opened anew.
    private func leaveLog() -> Bool {
        guard preview == nil, let session, !keepsLog else { return false }
        do throws(Failure) { return try session.leaveLog() } catch {
            // The run can go on, but the log grows until its end.
            keepsLog = true
            policiesOwner.logger.warning("The log of the database grows until the run ends: \(error.message)")
            return false
        }
    }

    // MARK: Requests

    func accept(_ intents: [Intent], during call: StaticString) {
        if let preview { return preview.take(intents, during: call) { path(of: $0) } }
        asked.append(intents)
        for case .server(.delete(let item)) in intents.map(\.change) { deletions.append(item) }
        uploads += intents.count(where: \.change.isUpload)
        pacing?.ask(intents.count(where: \.change.isAction))
    }

    func hasRoom(besides actions: Int) -> Bool {
        let hasRoom = pacing?.hasRoom(besides: actions) ?? true
        if !hasRoom { pacing?.isPending = true }
        return hasRoom
    }

    func mayUpload(besides uploads: Int) -> Bool { self.uploads + uploads < Self.mostUploads }

    /// Tells whether another item may be handed to the processor. Requests that needed no record take no room.
    private func hasRoom() throws -> Bool {
        guard let full = pacing, !full.hasRoom() else { return true }
        try commit()
        // What is not committed takes room.
        guard asked.isEmpty else { return hasRoom(besides: 0) }
        try countRecords()
        return hasRoom(besides: 0)
    }

    private func countRecords() throws {
        let now = policiesOwner.clock.now()
        guard var counted = pacing else { return }
        try policiesOwner.database.readBlocking { try counted.count(in: $0, now: now) }
        pacing = counted
    }

    // MARK: Commits

    /// Commits what was requested so far. From the first deletion on the server on, the requests wait for the end of the
    /// run, when the number of deletions is known.
    private func commit() throws {
        if deletions.isEmpty { try commitAll() }
    }

    private func commitAll() throws {
        var rest = asked[...]
        asked.removeAll(keepingCapacity: true)
        uploads = 0
        var hold: Issue?
        var isDecided = false
        while !rest.isEmpty {
            let intents = rest.prefix(Self.mostCalls).flatMap(\.self)
            rest = rest.dropFirst(Self.mostCalls)
            var done: Transaction?
            try policiesOwner.database.writeBlocking { transaction in
                defer { done = transaction }
                guard !deletions.isEmpty else {
                    return try carryOut(intents, heldBy: nil, in: transaction)
                }
                let (sink, plugin) = (policiesOwner.sink, calls.plugin)
                if !isDecided { hold = try sink.hold(deletions, of: plugin, in: transaction) }
                let last = try transaction.journal.lastID()
                // The issue is filed each time, since a person may have answered it meanwhile.
                let issue = try hold.map { try transaction.issues.file($0).id }
                try carryOut(intents, heldBy: issue, in: transaction)
                try sink.countDeletions(after: last, of: plugin, heldBy: issue, in: transaction)
            }
            isDecided = true
            if let changes = done?.changes { policiesOwner.followed(changes, run: run, asker: calls.plugin) }
        }
        deletions.removeAll()
    }

    /// Carries requests out in their order. Downloads without a key that follow each other are recorded together, as far
    /// as nothing else is known or wanted of their items.
    private func carryOut(_ intents: [Intent], heldBy issue: IssueID?, in transaction: Transaction) throws {
        var rest = intents[...]
        while let first = rest.first {
            let alike = rest.prefix { $0.key == nil && $0.change.isDownload(like: first.change) }
            if alike.count > 1 {
                try download(alike, in: transaction)
                rest = rest[alike.endIndex...]
            } else {
                try carryOut(first, heldBy: issue, in: transaction)
                rest.removeFirst()
            }
        }
    }

    /// Carries out downloads without a key, all of them while covered or none.
    private func download(_ intents: ArraySlice<Intent>, in transaction: Transaction) throws {
        guard case .download(_, let whileCovered)? = intents.first?.change else { return }
        var seen: Set<LocalID> = []
        let wanted = intents.filter { intent in
            intent.change.item.map { seen.insert($0).inserted && isAllowed(intent, on: $0) } ?? false
        }
        let queued = try policiesOwner.sink.download(
            wanted.compactMap(\.change.item), whileCovered: whileCovered, for: calls.plugin, in: transaction)
        if !queued.isEmpty {
            isFruitful = true
            noteAsked(queued, .here)
        }
        for intent in wanted {
            guard let item = intent.change.item, !queued.contains(item) else { continue }
            if try isEffective(intent, heldBy: nil, in: transaction) { noteAsked([item], .here) }
        }
    }

    /// Whether what is requested for an item counts as a consequence of a change of that item.
    private var isCounted: Bool { trigger == .itemsChanged || trigger == .syncCapacity }

    private func carryOut(_ intent: Intent, heldBy issue: IssueID?, in transaction: Transaction) throws {
        switch intent.change {
        case .removeLocalCopy(let item, _, unusedSince: .some) where try isChanged(item, in: transaction):
            // A copy that was put in place meanwhile may be used from a time before the run began: that of its
            // transaction.
            calls.dropped(intent, because: "the item has changed since the run began")
        case .download(let item, _), .update(let item), .removeLocalCopy(let item, _, _), .purge(let item):
            try perform(intent, on: item, in: transaction)
        case .server(let change):
            // What is made is counted by its path.
            let subject = change.item ?? change.target.map { LocalID($0.text) }
            let isHeld = if case .delete = change { true } else { false }
            try perform(intent, on: subject, heldBy: isHeld ? issue : nil, in: transaction)
        case .putValue(let key, let value): try transaction.plugins.setValue(of: intent.plugin, key: key, value)
        case .deleteValue(let key): try transaction.plugins.removeValue(of: intent.plugin, key: key)
        case .addPolicy(let policy, let runsTrigger):
            _ = try transaction.policies.add(policy, by: author(of: intent), runsTrigger: runsTrigger)
        case .updatePolicy(let policy, let runsTrigger):
            guard let stored = try transaction.policies.policy(policy.id), stored != policy else { return }
            guard stored.revision == policy.revision else { return outdated(intent, policy.id) }
            try transaction.policies.update(policy, by: author(of: intent), runsTrigger: runsTrigger)
        case .removePolicy(let id, let runsTrigger):
            guard try transaction.policies.policy(id) != nil else { return }
            try transaction.policies.remove(id, by: author(of: intent), runsTrigger: runsTrigger)
        }
    }

    /// Tells whether an item was written since the state that the run sees.
    private func isChanged(_ item: LocalID, in transaction: Transaction) throws -> Bool {
        try transaction.items.item(localID: item).map { $0.anchor > anchor } ?? false
    }

    private func perform(
        _ intent: Intent, on item: LocalID?, heldBy issue: IssueID? = nil, in transaction: Transaction
    ) throws {
        guard let item else {
            _ = try isEffective(intent, heldBy: issue, in: transaction)
            return
        }
        guard isAllowed(intent, on: item) else { return }
        // A request without an effect changes nothing, and a processor may repeat it as often as it likes.
        if try isEffective(intent, heldBy: issue, in: transaction) { noteAsked([item], intent.change.wish) }
    }

    /// Tells whether a request for an item is carried out. Logs one that is not.
    private func isAllowed(_ intent: Intent, on item: LocalID) -> Bool {
        guard isCounted,
            let why = policiesOwner.objection(
                to: intent.change.wish, for: item, plugin: calls.plugin, path: { path(of: item) })
        else { return true }
        calls.dropped(intent, because: why)
        return false
    }

    private func noteAsked(_ items: some Sequence<LocalID>, _ wish: AskCounter.Wish) {
        if isCounted { policiesOwner.noteAsked(items, wish, by: calls.plugin) }
    }

    private func isEffective(
        _ intent: Intent, heldBy issue: IssueID?, in transaction: Transaction
    ) throws -> Bool {
        switch try policiesOwner.sink.perform(intent, heldBy: issue, in: transaction) {
        case .effective:
            isFruitful = true
            return true
        case .idle: return false
        case .refused(let why):
            calls.refused(intent, because: why)
            return false
        }
    }

    private func author(of intent: Intent) -> PolicyAuthor { .plugin(intent.plugin, at: policiesOwner.clock.now()) }

    private func outdated(_ intent: Intent, _ id: PolicyID) {
        calls.dropped(intent, because: "the policy was changed meanwhile")
        calls.logError("A change to the policy \(id) was dropped: the policy was changed meanwhile")
    }
}

extension Intent.Change {
    /// Whether both are downloads, and both while covered or not.
    fileprivate func isDownload(like other: Self) -> Bool {
        if case .download(_, let whileCovered) = self, case .download(_, whileCovered) = other { true } else { false }
    }

    fileprivate var wish: AskCounter.Wish {
        switch self {
        case .removeLocalCopy, .purge: .gone
        case .server: .changed
        case .download, .update, .addPolicy, .updatePolicy, .removePolicy, .putValue, .deleteValue: .here
        }
    }
}
