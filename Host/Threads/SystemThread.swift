import CLinux
import Glibc

/// A thread of the system, which ends when what it runs returns.
public struct SystemThread: Sendable {
    private let handle: pthread_t

    /// Begins a thread.
    /// - Parameters:
    ///   - name: What debuggers and `ps` show, cut to 15 bytes.
    ///   - stackSize: In bytes; nil: as the system has it.
    ///   - body: What it runs. It may block.
    /// - Throws: ``ThreadError`` if the system has no thread to give.
    public init(
        name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) throws(ThreadError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var handle = pthread_t()
        let argument = Unmanaged.passRetained(Body(name: name, run: body)).toOpaque()
        let code = pthread_create(
            &handle, &attributes,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                linux_set_thread_name(pthread_self(), body.name)
                body.run()
                return nil
            }, argument)
        guard code == 0 else {
            Unmanaged<Body>.fromOpaque(argument).release()
            throw ThreadError(code: code)
        }
        self.handle = handle
    }

    /// Whether the caller is on this thread.
    public var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }
}

/// A thread could not be made.
public struct ThreadError: Error {
    /// As in `errno`.
    public var code: Int32
}

private final class Body: Sendable {
    /// Ends with a zero.
    let name: [CChar]
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name.utf8.prefix(15).map { CChar(bitPattern: $0) } + [0]
        self.run = run
    }
}
