/// A reader of the conditions that an error document names (RFC 4918, section 16).
enum DAVErrorReader {
    /// Returns the names of the elements in the document's `error`, in Clark's notation. If the document is cut off,
    /// returns the names that came before.
    static func conditions(in document: [UInt8]) -> [String] {
        let handler = Handler()
        let xml: XMLReader
        do { xml = try XMLReader(handler: handler) } catch { return [] }
        document.withUnsafeBytes { bytes in
            // Most error documents are web pages. The names before a cut still count.
            do throws(XMLReader.Malformed) { try xml.read(bytes) } catch { return }
        }
        return handler.names
    }

    private final class Handler: XMLHandler {
        private(set) var names: [String] = []
        private(set) var hasGivenUp = false
        private var depth = 0

        func start(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes) {
            if depth == 0, DAVElement(name) != .error { hasGivenUp = true }
            if depth == 1, !hasGivenUp { names.append(ElementName.clark(name)) }
            depth += 1
        }

        func text(_ bytes: UnsafeRawBufferPointer) {}

        func end() { depth -= 1 }

        func documentType(_ name: String) { hasGivenUp = true }
    }
}
