/// A reader of what the document of a refusal tells beside its status. A value without I/O.
struct WriteErrorReader {
    /// The names of the conditions that the request violated, in Clark's notation (RFC 4918, section 16).
    private(set) var conditions: [String] = []
    /// The owner of the lock that is in the way.
    private(set) var lockOwner: String?
    /// The whole document as text, in lower case.
    private(set) var text = ""

    /// Reads a document, which may be cut off, and is a web page on many servers.
    init(_ document: [UInt8]) {
        conditions = DAVErrorReader.conditions(in: document)
        text = String(decoding: document.prefix(16_384), as: UTF8.self).lowercased()
        let handler = Handler()
        let xml: XMLReader
        do { xml = try XMLReader(handler: handler) } catch { return }
        document.withUnsafeBytes { bytes in
            // What came before a cut still counts.
            do throws(XMLReader.Malformed) { try xml.read(bytes) } catch { return }
        }
        lockOwner = handler.owner
    }

    private final class Handler: XMLHandler {
        private(set) var owner: String?
        private(set) var hasGivenUp = false
        private var depth = 0
        private var ownerDepth: Int?
        private var owned: [UInt8] = []

        private static let names = XMLNameTable([
            ("DAV:\nowner", true), ("http://nextcloud.org/ns\nlock-owner-displayname", true),
            ("http://nextcloud.org/ns\nlock-owner", true),
        ])
        /// The number of bytes of a name that are kept.
        private static let longest = 200

        func start(_ name: UnsafePointer<CChar>, _ attributes: XMLAttributes) {
            depth += 1
            if depth > 64 { hasGivenUp = true }
            if ownerDepth == nil, owner == nil, Self.names[name] != nil { (ownerDepth, owned) = (depth, []) }
        }

        func text(_ bytes: UnsafeRawBufferPointer) {
            if ownerDepth != nil {
                owned.append(contentsOf: bytes.prefix(Self.longest - min(owned.count, Self.longest)))
            }
        }

        func end() {
            if ownerDepth == depth {
                let name = owned.withoutLayout
                owner = name.isEmpty ? nil : name
                ownerDepth = nil
            }
            depth -= 1
        }

        func documentType(_ name: String) { hasGivenUp = true }
    }
}
