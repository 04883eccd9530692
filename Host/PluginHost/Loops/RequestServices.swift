import CLarder
import Model

/// How many answers of a kind may be open at a time.
private let mostAnswers = 4

/// `larder.http/1`
let httpTable = larder_http(
    struct_size: size(of: larder_http.self), reserved: 0,
    open: { host, request, out in
        serve(host, "http.open", during: .loop) { context throws(ServiceError) in
            let request = try PlainRequest(reading: request)
            let turn = try context.activeTurn()
            let slot: AnswerSlot = try context.slot(atMost: mostAnswers)
            out.pointee = slot.open(try turn.send(request))
        }
    },
    close: { host, answer in
        serve(host, "http.close", during: .loop) { context throws(ServiceError) in
            try context.closeSlot(AnswerSlot.self) { $0.table == answer }
        }
    })

/// `larder.dav/1`
let davTable = larder_dav(
    struct_size: size(of: larder_dav.self), reserved: 0,
    open: { host, request, out in
        serve(host, "dav.open", during: .loop) { context throws(ServiceError) in
            let (request, isAhead) = try MultistatusRequest.reading(request)
            let turn = try context.activeTurn()
            let slot: DAVAnswerSlot = try context.slot(atMost: mostAnswers)
            out.pointee = slot.open(try turn.send(request, ahead: isAhead))
        }
    },
    close: { host, answer in
        serve(host, "dav.close", during: .loop) { context throws(ServiceError) in
            try context.closeSlot(DAVAnswerSlot.self) { $0.table == answer }
        }
    })

/// `larder.discover/1`
let discoverTable = larder_discover(struct_size: size(of: larder_discover.self), reserved: 0) { host, service, out in
    serve(host, "discover.find", during: .loop) { context throws(ServiceError) in
        let discovery = try FilledStruct(out)
        let found = try context.activeTurn().homes(of: try service.required("the service"))
        discovery.fill(
            with: larder_discovery(
                struct_size: size(of: larder_discovery.self), reserved: 0,
                principal: found.principal.map(context.lent.lend) ?? larder_str(ptr: nil, len: 0),
                homes: context.lent.list(found.homes), home_count: UInt64(found.homes.count)))
    }
}

/// What stands in it, and whether it may be sent, whoever sends it looks at.
extension PlainRequest {
    init(reading address: UnsafePointer<larder_http_request>) throws(ServiceError) {
        let given: larder_http_request
        do throws(Refusal) { given = try larder_http_request.copy(address) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, error.reason)
        }
        self.init(
            try given.method.required("the method"), try given.target.required("the target"),
            body: given.body.copied ?? [])
        guard given.header_count > 0, let first = given.headers else { return }
        guard given.header_count <= 64 else { throw ServiceError(LARDER_LIMIT, "more than 64 headers") }
        let array = try StridedArray(
            first, stride: given.header_stride, firstSize: 32, zero: larder_http_header(), named: "the headers")
        for index in 0..<Int(given.header_count) {
            let header = array[index]
            let name = try header.name.required("a header's name")
            headers.append((name, try header.value.required("a header's value")))
        }
    }
}

extension MultistatusRequest {
    /// - Returns: the request, and whether nobody waits for its answer yet.
    static func reading(
        _ address: UnsafePointer<larder_dav_request>
    ) throws(ServiceError) -> (request: MultistatusRequest, isAhead: Bool) {
        let given: larder_dav_request
        do throws(Refusal) { given = try larder_dav_request.copy(address) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, error.reason)
        }
        var request = MultistatusRequest(
            try given.method.required("the method"), try given.target.required("the target"), properties: [])
        request.body = try given.body.optional("the body").map { Array($0.utf8) }
        guard request.method == "PROPFIND" || request.method == "REPORT" && request.body != nil else {
            throw ServiceError(
                LARDER_INVALID_ARGUMENT, "\(request.method) is no PROPFIND, and no REPORT with a body")
        }
        guard given.depth <= 1 else { throw ServiceError(LARDER_INVALID_ARGUMENT, "no depth \(given.depth)") }
        request.depth = given.depth == 0 ? .zero : .one
        guard given.property_count <= 64 else { throw ServiceError(LARDER_LIMIT, "more than 64 properties") }
        try check(flags: given.flags, known: LARDER_DAV_AHEAD)
        let isAhead = given.flags & LARDER_DAV_AHEAD != 0
        guard let names = given.properties else { return (request, isAhead) }
        for name in UnsafeBufferPointer(start: names, count: Int(given.property_count)) {
            let name = try name.required("a property")
            guard name.utf8.first == UInt8(ascii: "{"), name.utf8.contains(UInt8(ascii: "}")) else {
                throw ServiceError(LARDER_INVALID_ARGUMENT, "the property \(name) is not in Clark notation")
            }
            request.properties.append(name)
        }
        return (request, isAhead)
    }
}

extension larder_http_request: SizedTable {
    static var tableName: String { "request" }
    static var firstSize: Int { 72 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_dav_request: SizedTable {
    static var tableName: String { "request" }
    static var firstSize: Int { 72 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_discovery: SizedTable {
    static var tableName: String { "discovery" }
    static var firstSize: Int { 40 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_dav_end: SizedTable {
    static var tableName: String { "end of an answer" }
    static var firstSize: Int { 40 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

/// An answer's table and what was read of it.
final class AnswerSlot: Slot {
    let table = UnsafeMutablePointer<larder_http_answer>.allocate(capacity: 1)
    /// Headers stay until the answer is closed, bytes until the next ones are read.
    private let headers = LentMemory()
    private let bytes = LentMemory()
    private unowned let owner: InstanceContext
    private var answer: (any PluginAnswer)?

    init(owner: InstanceContext) {
        self.owner = owner
        table.initialize(
            to: larder_http_answer(
                struct_size: size(of: larder_http_answer.self), status: 0,
                context: Unmanaged.passRetained(self).toOpaque(), header: AnswerSlot.header, read: AnswerSlot.read))
    }

    var isOpen: Bool { answer != nil }

    func open(_ answer: any PluginAnswer) -> UnsafeMutablePointer<larder_http_answer> {
        self.answer = answer
        table.pointee.status = UInt32(clamping: answer.status)
        return table
    }

    func close() {
        answer = nil
        headers.free()
        bytes.free()
    }

    private func opened() throws(ServiceError) -> any PluginAnswer {
        guard let answer else { throw ServiceError(LARDER_INVALID_ARGUMENT, "the answer is closed") }
        return answer
    }

    private static func at(_ table: UnsafeMutablePointer<larder_http_answer>) -> AnswerSlot? {
        table.pointee.context.map { Unmanaged<AnswerSlot>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let header:
        @convention(c) (
            UnsafeMutablePointer<larder_http_answer>, larder_str, UnsafeMutablePointer<larder_str>
        ) -> larder_status = { table, name, out in
            guard let slot = at(table) else { return LARDER_INVALID_ARGUMENT }
            return serve(slot.owner, "http_answer.header", during: .loop) { _ throws(ServiceError) in
                guard let value = try slot.opened().header(try name.required("the header's name")) else {
                    throw ServiceError(LARDER_NOT_FOUND, "no such header")
                }
                out.pointee = slot.headers.lend(value)
            }
        }

    private static let read:
        @convention(c) (
            UnsafeMutablePointer<larder_http_answer>, UnsafeMutablePointer<larder_bytes>
        ) -> larder_status = { table, out in
            guard let slot = at(table) else { return LARDER_INVALID_ARGUMENT }
            return serve(slot.owner, "http_answer.read", during: .loop) { context throws(ServiceError) in
                out.pointee = larder_bytes(ptr: nil, len: 0)
                let answer = try slot.opened()
                try context.checkCancelled()
                slot.bytes.free()
                if let chunk = try answer.next() { out.pointee = slot.bytes.lend(chunk) }
            }
        }
}

/// The same for a multistatus.
final class DAVAnswerSlot: Slot {
    let table = UnsafeMutablePointer<larder_dav_answer>.allocate(capacity: 1)
    private let view = UnsafeMutablePointer<larder_dav_response>.allocate(capacity: 1)
    private let response = LentMemory()
    private let end = LentMemory()
    private unowned let owner: InstanceContext
    private var answer: (any PluginDAVAnswer)?

    init(owner: InstanceContext) {
        self.owner = owner
        view.initialize(to: larder_dav_response())
        table.initialize(
            to: larder_dav_answer(
                struct_size: size(of: larder_dav_answer.self), status: 0,
                context: Unmanaged.passRetained(self).toOpaque(), next: DAVAnswerSlot.next, end: DAVAnswerSlot.end))
    }

    var isOpen: Bool { answer != nil }

    func open(_ answer: any PluginDAVAnswer) -> UnsafeMutablePointer<larder_dav_answer> {
        self.answer = answer
        table.pointee.status = UInt32(clamping: answer.status)
        return table
    }

    func close() {
        answer = nil
        response.free()
        end.free()
    }

    private func opened() throws(ServiceError) -> any PluginDAVAnswer {
        guard let answer else { throw ServiceError(LARDER_INVALID_ARGUMENT, "the answer is closed") }
        return answer
    }

    private static func at(_ table: UnsafeMutablePointer<larder_dav_answer>) -> DAVAnswerSlot? {
        table.pointee.context.map { Unmanaged<DAVAnswerSlot>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let next:
        @convention(c) (
            UnsafeMutablePointer<larder_dav_answer>, UnsafeMutablePointer<UnsafePointer<larder_dav_response>?>
        ) -> larder_status = { table, out in
            guard let slot = at(table) else { return LARDER_INVALID_ARGUMENT }
            return serve(slot.owner, "dav_answer.next", during: .loop) { context throws(ServiceError) in
                out.pointee = nil
                let answer = try slot.opened()
                try context.checkCancelled()
                slot.response.free()
                let next = try answer.next()
                slot.table.pointee.status = UInt32(clamping: answer.status)
                guard let response = next else { return }
                slot.view.pointee = larder_dav_response(
                    struct_size: size(of: larder_dav_response.self), status: UInt32(clamping: response.status ?? 200),
                    href: slot.response.lend(response.href), values: slot.response.list(response.values),
                    value_count: UInt64(response.values.count), error: slot.response.names(response.errors))
                out.pointee = UnsafePointer(slot.view)
            }
        }

    private static let end:
        @convention(c) (
            UnsafeMutablePointer<larder_dav_answer>, UnsafeMutablePointer<larder_dav_end>
        ) -> larder_status = { table, out in
            guard let slot = at(table) else { return LARDER_INVALID_ARGUMENT }
            return serve(slot.owner, "dav_answer.end", during: .loop) { _ throws(ServiceError) in
                let filled = try FilledStruct(out)
                guard let end = try slot.opened().end else {
                    throw ServiceError(LARDER_WRONG_STATE, "the answer has not come to its end")
                }
                filled.fill(
                    with: larder_dav_end(
                        struct_size: size(of: larder_dav_end.self), truncated: end.isTruncated ? 1 : 0,
                        sync_token: end.syncToken.map(slot.end.lend) ?? larder_str(ptr: nil, len: 0),
                        error: slot.end.names(end.errors)))
            }
        }
}

extension LentMemory {
    func list(_ texts: [String?]) -> UnsafePointer<larder_str> {
        let list = lend(bytes: MemoryLayout<larder_str>.stride * texts.count)
            .bindMemory(to: larder_str.self, capacity: texts.count)
        for (index, text) in texts.enumerated() {
            (list + index).initialize(to: text.map(lend) ?? larder_str(ptr: nil, len: 0))
        }
        return UnsafePointer(list)
    }

    /// Names with spaces between them; absent if there are none.
    fileprivate func names(_ names: [String]) -> larder_str {
        names.isEmpty ? larder_str(ptr: nil, len: 0) : lend(names.joined(separator: " "))
    }
}
