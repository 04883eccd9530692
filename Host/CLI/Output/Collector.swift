import Synchronization

/// What is told on another thread, such as a database's, until all of it is known.
final class Collector<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
}
