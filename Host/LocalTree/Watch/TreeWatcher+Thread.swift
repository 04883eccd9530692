import Glibc
import Model
import Synchronization

/// The work of the watcher's thread.
extension TreeWatcher {
    func work() {
        var folders = WatchedFolders()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            var sources = [inotify.number, wakeUpEnd.number, useEvents.number].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&sources, nfds_t(sources.count), -1) > 0 else { continue }
            if sources[0].revents != 0 {
                let count = read(inotify.number, buffer.baseAddress, buffer.count)
                if count > 0 {
                    handle(WatchEvent.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])), &folders)
                }
            }
            if sources[2].revents != 0 { readUses(into: buffer, folders) }
            if sources[1].revents != 0 {
                read(wakeUpEnd.number, buffer.baseAddress, 1)
                for command in shared.withLock({ shared in
                    defer { shared.commands = [] }
                    return shared.commands
                }) {
                    switch command {
                    case .walk(let continuation):
                        walk(&folders)
                        continuation.resume()
                    case .events(let events, let continuation):
                        handle(events, &folders)
                        continuation.resume()
                    case .end(let continuation):
                        tree.ownOpens.setWatched(false)
                        return continuation.resume()
                    }
                }
            }
        }
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
        guard inotify.number >= 0 else { throw limit(inotifyError) }
        guard case .success(let number) = tree.openFolder(path, making: false) else { return nil }
        let folder = Descriptor(number)
        if folders.count >= most, folders.watch(at: path) == nil { throw limit(ENOSPC) }
        let mask = path.isRoot ? WatchEvent.asked | WatchEvent.askedOfRoot : WatchEvent.asked
        // The watch is added by the descriptor, so that no symbolic link on the way can lead elsewhere.
        let place = "/proc/self/fd/\(folder.number)"
        var watch = inotify_add_watch(inotify.number, place, mask)
        if watch < 0, errno == ENOSPC, folders.hasUses {
            // Watches for changes are worth more than watches for uses.
            giveUpUses(&folders)
            watch = inotify_add_watch(inotify.number, place, mask)
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
            let use = inotify_add_watch(useEvents.number, place, WatchEvent.askedOfUses)
            if use >= 0 { folders.setUse(use, of: watch) } else { giveUpUses(&folders) }
        }
        return watch
    }

    private func end(_ watches: [Int32], _ folders: inout WatchedFolders) {
        for watch in watches {
            inotify_rm_watch(inotify.number, watch)
            if let use = folders.takeUse(of: watch) { inotify_rm_watch(useEvents.number, use) }
        }
    }

    /// Removes the watches for uses, since the system grants no more watches.
    private func giveUpUses(_ folders: inout WatchedFolders) {
        for watch in folders.watches {
            if let use = folders.takeUse(of: watch) { inotify_rm_watch(useEvents.number, use) }
        }
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
