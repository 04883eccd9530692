import CLarder
import LarderFakeHost
import Model
import PluginHost

/// The account's server, with the answers of the test.
final class FakeServer {
    /// An answer of the test for one request.
    struct Script {
        var method: String
        var target: String
        var isDAV: Bool
        var status: Int
        /// The failure after the last part; nil if the answer ends.
        var breaks: larder_status?
        /// The failure in place of an answer; nil if there is one.
        var failure: larder_status?
        var headers: [(name: String, value: String)] = []
        var chunks: [[UInt8]] = []
        /// How often the parts come before the answer ends.
        var rounds = 1
        var responses: [Response] = []
        var end = MultistatusEnd()
    }

    /// A response with its properties, by their names in Clark's notation.
    struct Response {
        var href: String
        var status: Int
        var errors: [String]
        var values: [(name: String, text: String)] = []
    }

    var scripts: [Script] = []
    /// Adds an answer for a request that has none; nil: the test gave no such function.
    var serve: ((_ method: String, _ target: String, _ body: String) -> Void)?
    var filesHome: String?
    /// The homes by service: `caldav`, `carddav`.
    var homes: [String: DAVHomes] = [:]
    /// The answers that are open and not read to their end.
    fileprivate(set) var underWay = 0

    func forget() { (scripts, serve) = ([], nil) }

    /// Changes the answer that was added last.
    func change(_ body: (inout Script) -> Void) {
        guard !scripts.isEmpty else { return }
        body(&scripts[scripts.count - 1])
    }

    fileprivate func take(isDAV: Bool, _ method: String, _ target: String, _ body: String) -> Script? {
        for isAgain in [false, true] {
            let index = scripts.firstIndex { $0.isDAV == isDAV && $0.method == method && $0.target == target }
            if let index { return scripts.remove(at: index) }
            if isAgain { return nil }
            serve?(method, target, body)
        }
        return nil
    }
}

extension FakeHost {
    /// Takes the test's answer to a request.
    /// - Throws: `LARDER_IO`, which is a mistake, without one; `LARDER_CANCELLED` if the call should end.
    func answer(
        _ function: String, isDAV: Bool, _ method: String, _ target: String, depth: UInt32, body: [UInt8]?
    ) throws(ServiceError) -> FakeServer.Script {
        let text = body.map { String(decoding: $0, as: UTF8.self) }
        journal.add(LARDER_FAKE_REQUEST, Journal.Entry(name: method, number: depth, path: target, text: text))
        guard let found = server.take(isDAV: isDAV, method, target, text ?? "") else {
            journal.mistake(function, LARDER_IO)
            throw ServiceError(LARDER_IO, "the test has no answer to \(method) \(target)")
        }
        return found
    }
}

/// The state of an answer that is open.
private final class Open {
    private let host: FakeHost
    private var isOpen = true

    init(_ host: FakeHost) {
        self.host = host
        host.server.underWay += 1
    }

    deinit { end() }

    func end() {
        if isOpen { host.server.underWay -= 1 }
        isOpen = false
    }

    func check() throws(ServiceError) {
        if host.isCancelled { throw ServiceError(LARDER_CANCELLED, "the call is to end") }
    }
}

/// An answer of the test to a plain request.
final class FakeAnswer: PluginAnswer {
    private let script: FakeServer.Script
    private let open: Open
    private var left: ArraySlice<[UInt8]>
    private var roundsLeft: Int

    init(_ script: FakeServer.Script, of host: FakeHost) {
        (self.script, open, left) = (script, Open(host), script.chunks[...])
        roundsLeft = script.rounds - 1
    }

    var status: Int { script.status }

    func header(_ name: String) -> String? {
        script.headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    func next() throws(ServiceError) -> [UInt8]? {
        try open.check()
        if left.isEmpty, roundsLeft > 0 {
            left = script.chunks[...]
            roundsLeft -= 1
        }
        if let chunk = left.popFirst() { return chunk }
        open.end()
        if let status = script.breaks { throw ServiceError(status, "the test's answer ends here") }
        return nil
    }
}

/// An answer of the test to a PROPFIND or REPORT.
final class FakeDAVAnswer: PluginDAVAnswer {
    private let script: FakeServer.Script
    private let properties: [String]
    private let open: Open
    private var left: ArraySlice<FakeServer.Response>
    private(set) var status: Int
    private(set) var end: MultistatusEnd?

    init(_ script: FakeServer.Script, asking properties: [String], isAhead: Bool, of host: FakeHost) {
        (self.script, self.properties, open) = (script, properties, Open(host))
        left = script.status == 207 ? script.responses[...] : []
        status = isAhead ? 0 : script.status
    }

    func next() throws(ServiceError) -> MultistatusResponse? {
        try open.check()
        if let failure = script.failure { throw ServiceError(failure, "the test's answer") }
        status = script.status
        guard let response = left.popFirst() else {
            open.end()
            if let failure = script.breaks { throw ServiceError(failure, "the test's answer ends here") }
            end = script.end
            return nil
        }
        let values = properties.map { name in response.values.last { $0.name == name }?.text }
        return MultistatusResponse(
            href: response.href, status: response.status, values: values, errors: response.errors)
    }
}
