import CLinux
public import Model
import Synchronization

/// The subject of a call, for messages about the call. The text is borrowed for the call.
struct CallSubject {
    var kind: UInt32
    var text: UnsafeBufferPointer<UInt8>

    static var nothing: CallSubject {
        CallSubject(kind: UInt32(LINUX_CALL_ABOUT_NOTHING), text: UnsafeBufferPointer(start: nil, count: 0))
    }

    /// Returns an item as a subject.
    /// - Parameter path: The path of the item.
    static func item(_ path: UnsafeBufferPointer<UInt8>) -> CallSubject {
        CallSubject(kind: UInt32(LINUX_CALL_ABOUT_ITEM), text: path)
    }

    static func loop(_ id: UnsafeBufferPointer<UInt8>) -> CallSubject {
        CallSubject(kind: UInt32(LINUX_CALL_ABOUT_LOOP), text: id)
    }
}

/// The call that is under way into an instance, recorded where a crash does not remove it. The record uses plain
/// stores, because there is a call for every item.
///
/// Unchecked: only the instance's thread writes the texts, before the call. Other threads read the texts only while the
/// call goes on.
final class CallRecord: @unchecked Sendable {
    typealias Call = linux_call

    /// The call, and behind it the last one in which the process was forked and a copy came back.
    private let call: UnsafeMutablePointer<linux_call>
    /// The board that contains the call; nil if the call has memory of its own, which is never freed.
    private let board: CallBoard?
    /// The name that was written last. Used on the instance's thread only.
    private var name: UnsafePointer<UInt8>?

    /// Creates a record.
    /// - Parameters:
    ///   - call: The memory for two calls, all zero, in the board if there is one.
    ///   - board: The board that contains the memory.
    ///   - plugin: The plugin of the instance.
    ///   - library: The path of the plugin's library.
    ///   - mark: The mark of the library's file when it was opened; nil for that of the file now.
    init(
        _ call: UnsafeMutablePointer<linux_call>, on board: CallBoard?, plugin: PluginID, library: String,
        mark: String? = nil
    ) {
        self.call = call
        self.board = board
        call.pointee.boot = CallBoard.boot
        call.pointee.plugin_length = put(plugin.text, at: LINUX_CALL_PLUGIN_AT, LINUX_CALL_LOOKS_AT)
        call.pointee.library_length = put(library, at: LINUX_CALL_LIBRARY_AT, LINUX_CALL_SUBJECT_AT)
        call.pointee.looks_length = put(
            mark ?? LibraryMark.text(of: library) ?? "", at: LINUX_CALL_LOOKS_AT, LINUX_CALL_LIBRARY_AT)
    }

    /// Creates a record that does not outlive the process.
    convenience init(plugin: PluginID, library: String, mark: String? = nil) {
        let size = CallBoard.recordSize
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        Self.kept.withLock { $0.append(UInt(bitPattern: memory)) }
        self.init(
            memory.assumingMemoryBound(to: linux_call.self), on: nil, plugin: plugin, library: library, mark: mark)
    }

    /// The addresses of the memory that is never freed. They show a search for leaks that it is not lost.
    private static let kept = Mutex<[UInt]>([])

    /// The record for calls that nobody reads, of an instance that was destroyed.
    static let nowhere = CallRecord(plugin: PluginID(""), library: "")

    /// Makes the calling thread the thread whose calls are recorded here.
    func enter() { linux_calls_are_in(call) }

    static func leave() { linux_calls_are_in(nil) }

    @inline(__always)
    func begin(_ name: StaticString, _ subject: CallSubject) {
        if name.utf8Start != self.name { write(name) }
        let count = min(subject.text.count, Int(LINUX_CALL_SIZE) - Int(LINUX_CALL_SUBJECT_AT))
        if count > 0, let start = subject.text.baseAddress {
            (UnsafeMutableRawPointer(call) + Int(LINUX_CALL_SUBJECT_AT)).copyMemory(from: start, byteCount: count)
        }
        call.pointee.subject_length = UInt32(truncatingIfNeeded: count)
        call.pointee.about = subject.kind
        linux_call_begin(call)
    }

    @inline(__always)
    func end() { linux_call_end(call) }

    /// Notes whether the call under way is in a function of the host. A call that is there when the process vanishes
    /// did not end it.
    @inline(__always)
    func setInHost(_ isInHost: Bool) {
        if isInHost { linux_call_enters_host(call) } else { linux_call_leaves_host(call) }
    }

    /// Whether forks of the process came back from calls since they were last kept.
    @inline(__always)
    var hasForks: Bool { linux_call_forks(linux_call_of_forks(call)) > 0 }

    /// Keeps the call in which the process was forked, if a fork came back, for the next process to find.
    /// - Returns: The call and its subject; nil if no fork came back.
    func takeForks() -> String? {
        guard hasForks, let forks = linux_call_of_forks(call) else { return nil }
        let text = CallNote(reading: UnsafeRawPointer(forks), as: .forked).callText
        // If the board is full, the next process finds the record itself.
        if board?.keep(forks) != false { forks.pointee.forks = 0 }
        return text
    }

    /// The last call and its subject, such as `performAction of /a`. Used on the instance's thread only.
    var lastCallText: String { CallNote(reading: UnsafeRawPointer(call), as: .underWay).callText }

    /// Marks the call under way as hanging until it returns. May be called on any thread.
    /// - Returns: The call; nil if none is under way.
    func markHanging(at time: Timestamp) -> CallNote? {
        guard linux_call_hangs(call, time.nanoseconds) != 0 else { return nil }
        return CallNote(reading: UnsafeRawPointer(call))
    }

    /// The call that was found to hang and still hangs; nil if there is none.
    var hanging: CallNote? {
        linux_call_state(call) == UInt32(LINUX_CALL_HANGS) ? CallNote(reading: UnsafeRawPointer(call)) : nil
    }

    private func write(_ name: StaticString) {
        self.name = name.utf8Start
        call.pointee.name_length = put(
            UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), at: LINUX_CALL_NAME_AT,
            LINUX_CALL_PLUGIN_AT)
    }

    private func put(_ text: String, at place: some BinaryInteger, _ end: some BinaryInteger) -> UInt32 {
        var text = text
        return text.withUTF8 { put($0, at: place, end) }
    }

    private func put(
        _ text: UnsafeBufferPointer<UInt8>, at place: some BinaryInteger, _ end: some BinaryInteger
    ) -> UInt32 {
        let count = min(text.count, Int(end) - Int(place))
        guard count > 0, let start = text.baseAddress else { return 0 }
        (UnsafeMutableRawPointer(call) + Int(place)).copyMemory(from: start, byteCount: count)
        return UInt32(count)
    }
}

/// A call as it was recorded.
public struct CallNote: Codable, Hashable, Sendable {
    /// The end of a call, as far as it is known.
    public enum End: String, Codable, Sendable {
        /// A call during which the process ended. The plugin did not cause the end, or is not known to have caused it.
        case underWay
        case crashed, exited, hung
        /// A call whose own code was running when the process ended without a trace, as after `_exit`.
        case vanished
        /// A call that closed the host's descriptors.
        case closed
        /// A call that forked the process and came back in the copy too.
        case forked
    }

    /// The id of the plugin.
    public var plugin: String
    /// The absolute path of the plugin's library.
    public var library: String
    /// The mark by which the library's file is known again.
    public var mark: String
    /// The name of the call.
    public var call: String
    /// The item's path or the loop's id; nil if the call is about neither.
    public var subject: String?
    /// Whether the subject is a loop.
    public var isAboutLoop: Bool
    /// The end of the call.
    public var end: End
    /// The number of the signal, if the call crashed.
    public var signal: Int32
    /// The time at which the call crashed, ended the process or was found to hang, in nanoseconds.
    public var nanoseconds: Int64

    /// The names under which the database keeps the properties.
    private enum CodingKeys: String, CodingKey {
        case plugin, library, call, subject, isAboutLoop, end, signal, nanoseconds
        case mark = "looks"
    }

    /// Reads a call; nil if no call was under way. The memory that a crashed process wrote may contain anything.
    init?(reading call: UnsafeRawPointer) {
        let head = call.load(as: linux_call.self)
        let isOwnCode = head.is_in_host == 0 && head.boot != 0 && head.boot == CallBoard.boot
        switch head.state {
        case UInt32(LINUX_CALL_UNDER_WAY): self.init(reading: call, as: isOwnCode ? .vanished : .underWay)
        case UInt32(LINUX_CALL_CUT): self.init(reading: call, as: .underWay)
        case UInt32(LINUX_CALL_HANGS): self.init(reading: call, as: .hung)
        case UInt32(LINUX_CALL_EXITED): self.init(reading: call, as: .exited)
        case UInt32(LINUX_CALL_CRASHED): self.init(reading: call, as: .crashed)
        case UInt32(LINUX_CALL_CLOSED): self.init(reading: call, as: .closed)
        case UInt32(LINUX_CALL_NONE) where head.forks > 0: self.init(reading: call, as: .forked)
        default: return nil
        }
    }

    /// Reads the last call in a record, whose end is known.
    fileprivate init(reading call: UnsafeRawPointer, as end: End) {
        let head = call.load(as: linux_call.self)
        self.end = end
        func text(_ length: UInt32, at place: some BinaryInteger, _ end: some BinaryInteger) -> String {
            let count = min(Int(length), Int(end) - Int(place))
            return String(decoding: UnsafeRawBufferPointer(start: call + Int(place), count: count), as: UTF8.self)
        }
        plugin = text(head.plugin_length, at: LINUX_CALL_PLUGIN_AT, LINUX_CALL_LOOKS_AT)
        library = text(head.library_length, at: LINUX_CALL_LIBRARY_AT, LINUX_CALL_SUBJECT_AT)
        mark = text(head.looks_length, at: LINUX_CALL_LOOKS_AT, LINUX_CALL_LIBRARY_AT)
        self.call = text(head.name_length, at: LINUX_CALL_NAME_AT, LINUX_CALL_PLUGIN_AT)
        let isAboutAnything = head.about != UInt32(LINUX_CALL_ABOUT_NOTHING)
        subject = isAboutAnything ? text(head.subject_length, at: LINUX_CALL_SUBJECT_AT, LINUX_CALL_SIZE) : nil
        isAboutLoop = head.about == UInt32(LINUX_CALL_ABOUT_LOOP)
        (signal, nanoseconds) = (head.signal, head.time)
    }

    /// The time at which the call crashed, ended the process or was found to hang.
    public var time: Timestamp { Timestamp(nanoseconds: nanoseconds) }

    /// The call and its subject, such as `performAction of /a`.
    public var callText: String {
        guard let subject else { return call }
        return isAboutLoop ? "\(call) of the loop \(subject)" : "\(call) of \(subject)"
    }

    /// A sentence about the call, such as `it crashed (SIGSEGV) in performAction of /a`.
    public var sentence: String {
        switch end {
        case .underWay: "\(callText) was under way"
        case .crashed: "it crashed (\(String(cString: linux_signal_name(signal)))) in \(callText)"
        case .exited: "it ended the host with exit() in \(callText)"
        case .hung: "\(callText) did not return"
        case .vanished: "the host ended without a word in \(callText)"
        case .closed: "it closed the host's descriptors in \(callText)"
        case .forked: "it forked the host in \(callText), and the copy came back"
        }
    }
}
