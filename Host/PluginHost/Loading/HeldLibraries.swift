public import Model

/// The libraries of an account that are not opened for a while, since a call into them ended the host or hung.
///
/// A library is known by the SHA-256 of its bytes: other bytes begin anew.
public struct HeldLibraries: Codable, Hashable, Sendable {
    struct Library: Codable, Hashable, Sendable {
        /// In hexadecimal digits.
        var digest: String
        var path: String
        /// By which the file is known again without reading it.
        var mark: String
        /// Of the last day, the latest last.
        var ends: [CallNote]
        var isQuarantined = false

        /// The names under which the database keeps them.
        enum CodingKeys: String, CodingKey {
            case digest, path, ends, isQuarantined
            case mark = "looks"
        }
    }

    /// How long a library is left out after it ended the host.
    static let pause = Duration.seconds(600)
    /// So many ends within this time are too many.
    static let most = (ends: 3, within: Duration.seconds(86_400))

    private(set) var libraries: [Library] = []

    public init() {}

    public var isEmpty: Bool { libraries.isEmpty }

    /// Takes note of what the calls came to that a board was found with. Blocks.
    ///
    /// A file that has changed since is another library. What was under way when somebody else ended the process is no fault.
    public mutating func add(_ notes: [CallNote], now: Timestamp) {
        for note in notes where note.end != .underWay {
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
        // It may be found twice, if the process that found it did not get further.
        guard !libraries[place].ends.contains(note) else { return }
        libraries[place].ends.append(note)
        if libraries[place].ends.count >= Self.most.ends { libraries[place].isQuarantined = true }
    }

    /// Lets a plugin, or a library, be tried again.
    /// - Returns: whether it was held.
    public mutating func release(_ plugin: PluginID, library: String) -> Bool {
        let before = libraries.count
        libraries.removeAll { held in
            held.path.hasSameBytes(as: library)
                || held.ends.contains { $0.plugin.hasSameBytes(as: plugin.text) }
        }
        return libraries.count < before
    }

    /// Whether a library is held now; nil: it may be opened. Blocks, if any is.
    public func hold(of library: String, now: Timestamp) -> LibraryHold? {
        let holds = libraries.compactMap { held in LibraryHold(held, now: now).map { (held: held, hold: $0) } }
        guard !holds.isEmpty else { return nil }
        let mark = LibraryMark.text(of: library)
        let known = holds.first { one in
            one.held.path.hasSameBytes(as: library) && mark.map(one.held.mark.hasSameBytes) == true
        }
        if let known { return known.hold }
        let digest: String
        do throws(Refusal) { digest = hexadecimal(try LibraryMark.digest(of: library)) } catch { return nil }
        return holds.first { $0.held.digest.hasSameBytes(as: digest) }?.hold
    }

    /// When the next library may be tried again that is left out now; nil: none is.
    public func nextEnd(after now: Timestamp) -> Timestamp? {
        libraries.compactMap { LibraryHold($0, now: now)?.until }.min()
    }
}

/// Why a library is not opened now.
public struct LibraryHold: Hashable, Sendable {
    /// Nil: it is quarantined.
    public var until: Timestamp?
    public var last: CallNote
    /// How often in a day.
    public var count: Int

    init?(_ held: HeldLibraries.Library, now: Timestamp) {
        guard let last = held.ends.last else { return nil }
        (self.last, count) = (last, held.ends.count)
        guard !held.isQuarantined else { return }
        let end = last.time + HeldLibraries.pause
        guard now < end, last.isWithin(HeldLibraries.pause, of: now) else { return nil }
        until = end
    }

    /// The sentence for people.
    public var reason: String {
        let name = PluginID(last.plugin).shortName
        let retry = "`larder plugin retry \(name)`, or another build of it, lets it run again"
        guard let until else {
            return "it ended or held up the host \(count) times in a day, at last: \(last.sentence); \(retry)"
        }
        return "left out until \(until): \(last.sentence); \(retry) before"
    }
}

extension CallNote {
    /// Whether it was within a time before or after; a clock may have been set.
    fileprivate func isWithin(_ duration: Duration, of now: Timestamp) -> Bool {
        time - now < duration && now - time < duration
    }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
