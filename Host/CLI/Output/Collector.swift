import Synchronization

/// A collection of elements that are added on other threads, such as a database's, and read when all are known.
final class Collector<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
}
