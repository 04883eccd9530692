import CLarder
import Model

/// `larder.http/1`
let httpTable = larder_http(
    struct_size: size(of: larder_http.self), reserved: 0,
    open: { host, request, out in
        serve(host, "http.open", during: .loop) { context throws(ServiceError) in
            let request = try PlainRequest(reading: request)
            let turn = try context.activeTurn()
            let slot = try context.slot(of: AnswerKind.self)
            let answer = try turn.send(request)
            slot.table.pointee.status = UInt32(clamping: answer.status)
            out.pointee = slot.open(answer)
        }
    },
    close: { host, answer in
        serve(host, "http.close", during: .loop) { context throws(ServiceError) in
            try context.close(answer)
        }
    })

/// `larder.dav/1`
let davTable = larder_dav(
    struct_size: size(of: larder_dav.self), reserved: 0,
    open: { host, request, out in
        serve(host, "dav.open", during: .loop) { context throws(ServiceError) in
            let (request, isAhead) = try MultistatusRequest.reading(request)
            let turn = try context.activeTurn()
            let slot = try context.slot(of: DAVAnswerKind.self)
            let answer = try turn.send(request, ahead: isAhead)
            slot.table.pointee.status = UInt32(clamping: answer.status)
            out.pointee = slot.open(answer)
        }
    },
    close: { host, answer in
        serve(host, "dav.close", during: .loop) { context throws(ServiceError) in
            try context.close(answer)
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

/// A request that a plugin passed. The sender checks its contents and whether it may be sent.
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
    /// Reads a request.
    /// - Returns: The request, and whether the caller does not wait for its answer yet.
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
                LARDER_INVALID_ARGUMENT, "\(request.method) is neither a PROPFIND nor a REPORT with a body")
        }
        guard given.depth <= 1 else { throw ServiceError(LARDER_INVALID_ARGUMENT, "there is no depth \(given.depth)") }
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

extension LentMemory {
    func list(_ texts: [String?]) -> UnsafePointer<larder_str> {
        let list = lend(bytes: MemoryLayout<larder_str>.stride * texts.count)
            .bindMemory(to: larder_str.self, capacity: texts.count)
        for (index, text) in texts.enumerated() {
            (list + index).initialize(to: text.map(lend) ?? larder_str(ptr: nil, len: 0))
        }
        return UnsafePointer(list)
    }
}
