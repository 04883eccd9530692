import Glibc
import Model
import Synchronization
import Threads

/// The work of the watcher.
extension TreeWatcher {
    /// The largest number of events that wait. With more, as while the tree's disk does not answer, everything is
    /// compared instead.
    private static let mostEvents = 1 << 16

    /// Takes events of one of the kernel's queues. Called on the thread that reads the queues; never blocks.
    func receive(_ events: [WatchEvent], of kind: WatchQueues.Kind) {
        add(kind == .changes ? .changes(events) : .uses(events)) { shared in
            shared.events += events.count
            guard shared.events > Self.mostEvents else { return true }
            shared.work.removeAll {
                switch $0 {
                case .changes, .uses: true
                default: false
                }
            }
            shared.events = 1
            shared.work.append(.changes([.overflow]))
            return false
        }
    }

    /// Takes the files that Larder had open and of whose uses all events were handed over before.
    func receive(closed: [ItemPath: Int]) { add(.closed(closed)) { _ in true } }

    /// Adds a piece of work, and has a thread do it if none does.
    /// - Parameter accept: Decides under the lock whether the work is added.
    /// - Returns: Whether it was.
    @discardableResult
    func add(_ work: Work, if accept: (inout Shared) -> Bool) -> Bool {
        let (isAccepted, isFirst) = shared.withLock { shared in
            let isAccepted = accept(&shared)
            if isAccepted { shared.work.append(work) }
            defer { shared.isWorking = shared.isWorking || !shared.work.isEmpty }
            return (isAccepted, !shared.isWorking && !shared.work.isEmpty)
        }
        if isFirst { BlockingExecutor.common.run { [self] in doWork() } }
        return isAccepted
    }

    private func doWork() {
        folders.withLock { folders in
            while let works = takeWork() {
                for work in works { handle(work, &folders) }
            }
        }
    }

    private func takeWork() -> [Work]? {
        shared.withLock { shared in
            guard !shared.work.isEmpty else {
                shared.isWorking = false
                return nil
            }
            defer { (shared.work, shared.events) = ([], 0) }
            return shared.work
        }
    }

    private func handle(_ work: Work, _ folders: inout WatchedFolders) {
        switch work {
        case .walk(let continuation):
            walk(&folders)
            continuation.resume()
        case .changes(let events): handle(events, &folders)
        case .uses(let events): noteUses(events, folders)
        case .closed(let closed): tree.ownOpens.forget(closed)
        case .note(let events, let continuation):
            handle(events, &folders)
            continuation.resume()
        case .end(let continuation):
            leave(&folders)
            continuation.resume()
        }
    }

    private func leave(_ folders: inout WatchedFolders) {
        let places = self.places.withLock { places in
            defer { places = Places() }
            return places
        }
        let watches = folders.watches
        let uses = watches.compactMap { folders.takeUse(of: $0) }
        if let place = places.changes { queues.leave(place, watches) }
        if let place = places.uses { queues.leave(place, uses) }
        folders = WatchedFolders()
        tree.ownOpens.setWatched(false)
    }

    private func handle(_ events: [WatchEvent], _ folders: inout WatchedFolders) {
        var marks: [(ItemPath, DirtyPaths.Cause)] = []
        var isEverything = false
        for event in events {
            for step in folders.steps(for: event, isReserved: tree.isReserved) {
                switch step {
                case .mark(let path, let cause): marks.append((path, cause))
                case .enter(let path): enter(path, &folders)
                case .leave(let watch), .forget(let watch): end(folders.remove(watch), &folders)
                case .root: wake()
                case .everything:
                    walk(&folders)
                    isEverything = true
                }
            }
        }
        // The marks are added after the new folders are watched. A later change causes an event, and an earlier change
        // is found by the comparison.
        guard isEverything || !marks.isEmpty else { return }
        change { dirty, now in
            if isEverything { dirty.markAll(now: now) }
            for (path, cause) in marks { dirty.mark(path, cause, now: now) }
        }
    }

    /// Watches all existing folders, and removes all other watches.
    private func walk(_ folders: inout WatchedFolders) {
        shared.withLock { $0.limit = nil }
        var met: Set<Int32> = []
        enter(.root, &folders) { met.insert($0) }
        guard limit == nil else { return }
        end(folders.watches.filter { !met.contains($0) }.flatMap { folders.remove($0) }, &folders)
    }

    /// Watches a folder and all folders below it. Each folder is watched before its entries are read, so that entries
    /// that appear meanwhile cause events.
    private func enter(_ path: ItemPath, _ folders: inout WatchedFolders, _ met: (Int32) -> Void = { _ in }) {
        var rest = [path]
        while let path = rest.popLast() {
            do throws(Failure) {
                guard let watch = try add(path, &folders) else { continue }
                met(watch)
                _ = tree.eachEntry(of: path) { name, kind, _ in
                    if kind == .folder, let below = try? path.appending(name) { rest.append(below) }
                }
            } catch {
                return shared.withLock { $0.limit = error }
            }
        }
    }

    /// Watches one folder.
    /// - Returns: Nil if there is no such folder, or it cannot be read. Its entries cannot be compared then either.
    /// - Throws: The reason why no more folders can be watched.
    private func add(_ path: ItemPath, _ folders: inout WatchedFolders) throws(Failure) -> Int32? {
        let places = self.places.withLock(\.self)
        guard let changes = places.changes else { throw limit(places.error) }
        guard case .success(let number) = tree.openFolder(path, making: false) else { return nil }
        let folder = Descriptor(number)
        if folders.count >= most, folders.watch(at: path) == nil { throw limit(ENOSPC) }
        let mask = path.isRoot ? WatchEvent.asked | WatchEvent.askedOfRoot : WatchEvent.asked
        // The watch is added by the descriptor, so that no symbolic link on the way can lead elsewhere.
        let place = "/proc/self/fd/\(folder.number)"
        var watch = queues.add(place, mask, at: changes)
        if watch < 0, errno == ENOSPC, folders.hasUses {
            // Watches for changes are worth more than watches for uses.
            giveUpUses(&folders)
            watch = queues.add(place, mask, at: changes)
        }
        guard watch >= 0 else {
            if errno == EACCES { return nil }
            throw limit(errno)
        }
        guard let gone = folders.put(watch, at: path) else {
            end([watch], &folders)
            return nil
        }
        end(gone, &folders)
        if uses != nil, !areUsesMissed {
            let use = places.uses.map { queues.add(place, WatchEvent.askedOfUses, at: $0) } ?? -1
            if use >= 0 { folders.setUse(use, of: watch) } else { giveUpUses(&folders) }
        }
        return watch
    }

    private func end(_ watches: [Int32], _ folders: inout WatchedFolders) {
        let places = self.places.withLock(\.self)
        if let place = places.changes { queues.remove(watches, at: place) }
        let uses = watches.compactMap { folders.takeUse(of: $0) }
        if let place = places.uses, !uses.isEmpty { queues.remove(uses, at: place) }
    }

    /// Removes the watches for uses, since the system grants no more watches.
    private func giveUpUses(_ folders: inout WatchedFolders) {
        let uses = folders.watches.compactMap { folders.takeUse(of: $0) }
        if let place = places.withLock(\.uses) { queues.remove(uses, at: place) }
        shared.withLock { $0.areUsesMissed = true }
        wake()
    }

    private func limit(_ code: Int32) -> Failure {
        let name =
            switch code {
            case ENOSPC: "max_user_watches"
            case EMFILE: "max_user_instances"
            default: ""
            }
        guard !name.isEmpty else { return .system("watching the folders of \(tree.root)", code) }
        let setting = "fs.inotify.\(name)\(value(of: name))"
        return Failure(
            .localIO, "Not every folder of \(tree.root) can be watched: this system's limit \(setting) is reached",
            hint:
                "Raise the limit with `sysctl fs.inotify.\(name)=NUMBER`, and in a file in /etc/sysctl.d to keep it "
                + "raised")
    }

    private func value(of name: String) -> String {
        let file = Descriptor(open("/proc/sys/fs/inotify/\(name)", O_RDONLY | O_CLOEXEC))
        return file.number < 0 ? "" : " of \(readText(file.number, limit: 32))"
    }
}
