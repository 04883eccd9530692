import CLinux
import Glibc

/// A thread of the system, which ends when its body returns.
public struct SystemThread: Sendable {
    /// Starts a thread.
    /// - Parameters:
    ///   - name: The name in debuggers and `ps`, cut to 15 bytes.
    ///   - stackSize: The size of the stack in bytes, or nil for the system's default.
    ///   - body: The work of the thread. It may block.
    /// - Throws: ``ThreadError`` if the system cannot create a thread.
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
    }

    /// Tells whether that many more threads can be there at once. Starts them and waits until they have ended.
    public static func canStart(_ count: Int) -> Bool {
        // The threads end when they have got the lock.
        let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        defer { lock.deallocate() }
        pthread_mutex_init(lock, nil)
        defer { pthread_mutex_destroy(lock) }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 65_536)
        var threads: [pthread_t] = []
        pthread_mutex_lock(lock)
        while threads.count < count {
            var thread = pthread_t()
            let code = pthread_create(
                &thread, &attributes,
                { argument in
                    let lock = argument?.assumingMemoryBound(to: pthread_mutex_t.self)
                    if let lock, pthread_mutex_lock(lock) == 0 { pthread_mutex_unlock(lock) }
                    return nil
                }, lock)
            guard code == 0 else { break }
            threads.append(thread)
        }
        pthread_mutex_unlock(lock)
        for thread in threads { pthread_join(thread, nil) }
        return threads.count == count
    }

    /// The number of the thread that the caller runs on, which no other living thread has.
    static var current: UInt { UInt(pthread_self()) }
}

/// The failure to create a thread.
public struct ThreadError: Error, CustomStringConvertible {
    /// The error code, as in `errno`.
    public var code: Int32

    /// - Parameter code: The error code, as in `errno`.
    public init(code: Int32) { self.code = code }

    /// The failure in words.
    public var description: String { "no thread can be created: \(String(cString: strerror(code)))" }
}

private final class Body: Sendable {
    /// The name, with a zero at the end.
    let name: [CChar]
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name.utf8.prefix(15).map { CChar(bitPattern: $0) } + [0]
        self.run = run
    }
}
