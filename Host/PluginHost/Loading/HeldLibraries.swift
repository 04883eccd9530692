import Digests
public import Model

/// The libraries of an account that are not opened for some time, because a call into them ended the host or hung.
///
/// A library is identified by the SHA-256 of its bytes. A file with other bytes is another library without a history.
public struct HeldLibraries: Codable, Hashable, Sendable {
    struct Library: Codable, Hashable, Sendable {
        /// The digest of the library's bytes, in hexadecimal digits.
        var digest: String
        var path: String
        /// The mark by which the file is known again without reading it.
        var mark: String
        /// The calls of the last day that ended or held up the host, with the latest one last.
        var ends: [CallNote]
        var isQuarantined = false

        /// The names under which the database keeps the properties.
        enum CodingKeys: String, CodingKey {
            case digest, path, ends, isQuarantined
            case mark = "looks"
        }
    }

    /// The duration for which a library is not opened after it ended or held up the host.
    static let pause = Duration.seconds(600)
    /// The number of ends within a duration from which a library is quarantined.
    static let most = (ends: 3, within: Duration.seconds(86_400))

    private(set) var libraries: [Library] = []

    /// Creates the state without a held library.
    public init() {}

    /// Whether no library is held or remembered.
    public var isEmpty: Bool { libraries.isEmpty }

    /// Records the results of the calls that a board contained. Blocks.
    ///
    /// Ignores a call whose library file has changed since, because the file is another library now. Ignores a call
    /// that was only under way when the process ended, because the plugin is not known to have caused the end.
    public mutating func add(_ notes: [CallNote], now: Timestamp) {
        for var note in notes where note.end != .underWay {
            // Nobody saw when the process vanished.
            if note.end == .vanished { note.nanoseconds = now.nanoseconds }
            guard LibraryMark.text(of: note.library)?.hasSameBytes(as: note.mark) == true else { continue }
            do throws(Refusal) {
                add(note, digest: hexadecimal(try LibraryMark.digest(of: note.library)), now: now)
            } catch {
                continue
            }
        }
    }

    mutating func add(_ note: CallNote, digest: String, now: Timestamp) {
        for index in libraries.indices { libraries[index].ends.removeAll { !$0.isWithin(Self.most.within, of: now) } }
        libraries.removeAll { $0.ends.isEmpty && !$0.isQuarantined }
        let place =
            libraries.firstIndex { $0.digest.hasSameBytes(as: digest) }
            ?? {
                libraries.append(Library(digest: digest, path: note.library, mark: note.mark, ends: []))
                return libraries.endIndex - 1
            }()
        (libraries[place].path, libraries[place].mark) = (note.library, note.mark)
        // The same note may be found twice, if the process that found the note first did not get further.
        guard !libraries[place].ends.contains(note) else { return }
        libraries[place].ends.append(note)
        if libraries[place].ends.count >= Self.most.ends { libraries[place].isQuarantined = true }
    }

    /// Releases the libraries of a plugin, and a library, so that they may be opened again.
    /// - Returns: Whether one was held.
    public mutating func release(_ plugin: PluginID, library: String) -> Bool {
        let before = libraries.count
        libraries.removeAll { held in
            held.path.hasSameBytes(as: library)
                || held.ends.contains { $0.plugin.hasSameBytes(as: plugin.text) }
        }
        return libraries.count < before
    }

    /// Returns the reason why a library is not opened now; nil if it may be opened. Blocks if any library is held.
    public func hold(of library: String, now: Timestamp) -> LibraryHold? {
        hold(of: library, mark: LibraryMark.text(of: library), bytes: library, now: now)
    }

    /// Returns the reason why an opened library is not used now.
    func hold(of image: LibraryImage, now: Timestamp) -> LibraryHold? {
        hold(of: image.source, mark: image.mark, bytes: image.path, now: now)
    }

    private func hold(of library: String, mark: String?, bytes: String, now: Timestamp) -> LibraryHold? {
        let holds = libraries.compactMap { held in LibraryHold(held, now: now).map { (held: held, hold: $0) } }
        guard !holds.isEmpty else { return nil }
        let known = holds.first { one in
            one.held.path.hasSameBytes(as: library) && mark.map(one.held.mark.hasSameBytes) == true
        }
        if let known { return known.hold }
        let digest: String
        do throws(Refusal) { digest = hexadecimal(try LibraryMark.digest(of: bytes)) } catch { return nil }
        return holds.first { $0.held.digest.hasSameBytes(as: digest) }?.hold
    }

    /// Returns a sentence about the ends of the last day that a library which may be opened has caused; nil if there
    /// are none.
    /// - Parameter library: The path of the library, whose file must be the one that caused them.
    public func remark(on library: String, now: Timestamp) -> String? {
        guard let mark = LibraryMark.text(of: library),
            let held = libraries.first(where: { $0.path.hasSameBytes(as: library) && $0.mark.hasSameBytes(as: mark) }),
            let last = held.ends.last(where: { $0.isWithin(Self.most.within, of: now) })
        else { return nil }
        return "\(last.sentence), at \(last.time); the third time in a day it is quarantined"
    }

    /// Returns the time at which the next library that is held now may be opened again; nil if there is none.
    public func nextEnd(after now: Timestamp) -> Timestamp? {
        libraries.compactMap { LibraryHold($0, now: now)?.until }.min()
    }
}

/// The reason why a library is not opened now.
public struct LibraryHold: Hashable, Sendable {
    /// The time until which the library is not opened; nil if it is quarantined.
    public var until: Timestamp?
    /// The last call that ended or held up the host.
    public var last: CallNote
    /// The number of such calls within a day.
    public var count: Int

    init?(_ held: HeldLibraries.Library, now: Timestamp) {
        guard let last = held.ends.last else { return nil }
        (self.last, count) = (last, held.ends.count)
        guard !held.isQuarantined else { return }
        // A host that vanished may have been killed by somebody else. That counts, and holds nothing by itself.
        guard let seen = held.ends.last(where: { $0.end != .vanished }) else { return nil }
        let end = seen.time + HeldLibraries.pause
        guard now < end, seen.isWithin(HeldLibraries.pause, of: now) else { return nil }
        (self.last, until) = (seen, end)
    }

    /// The reason as a sentence for people.
    public var reason: String {
        guard let until else {
            return "it ended or blocked the host \(count) times in a day, the last time: \(last.sentence)"
        }
        return "left out until \(until): \(last.sentence)"
    }

    /// What ends it.
    public var advice: Advice { .retryPlugin(PluginID(last.plugin), isLeftOutForGood: until == nil) }
}

extension CallNote {
    /// Tells whether the call was within a duration before or after a time. The clock may have been set in between.
    fileprivate func isWithin(_ duration: Duration, of now: Timestamp) -> Bool {
        time - now < duration && now - time < duration
    }
}
