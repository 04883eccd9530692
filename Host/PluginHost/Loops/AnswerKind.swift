import CLarder

extension larder_http_answer: SlotTable {
    typealias Kind = AnswerKind
}

/// An answer, and the parts of it that were read.
struct AnswerKind: SlotKind {
    typealias Source = any PluginAnswer

    static let most = 4
    static var closedText: String { "the answer is closed" }

    /// The memory for headers stays until the answer is closed. The memory for bytes stays until the next bytes are
    /// read.
    private let headers = LentMemory()
    private let bytes = LentMemory()

    static func table(context: UnsafeMutableRawPointer) -> larder_http_answer {
        larder_http_answer(
            struct_size: size(of: larder_http_answer.self), status: 0, context: context,
            header: { table, name, out in
                serve(table, "http_answer.header", during: .loop) { _, slot throws(ServiceError) in
                    let answer = try slot.opened()
                    guard let value = answer.header(try name.required("the header's name")) else {
                        throw ServiceError(LARDER_NOT_FOUND, "no such header")
                    }
                    out.pointee = slot.kind.headers.lend(value)
                }
            },
            read: { table, out in
                serve(table, "http_answer.read", during: .loop) { context, slot throws(ServiceError) in
                    out.pointee = larder_bytes(ptr: nil, len: 0)
                    let answer = try slot.opened()
                    try context.checkCancelled()
                    slot.kind.bytes.free()
                    if let chunk = try answer.next() { out.pointee = slot.kind.bytes.lend(chunk) }
                }
            })
    }

    func free() {
        headers.free()
        bytes.free()
    }
}
