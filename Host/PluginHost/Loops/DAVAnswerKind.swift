import CLarder
import Model

extension larder_dav_answer: SlotTable {
    typealias Kind = DAVAnswerKind
}

/// An answer to a PROPFIND or REPORT, and the response that it shows.
struct DAVAnswerKind: SlotKind {
    typealias Source = any PluginDAVAnswer

    static let most = AnswerKind.most
    static var closedText: String { "the answer is closed" }

    private let view = UnsafeMutablePointer<larder_dav_response>.allocate(capacity: 1)
    private let response = LentMemory()
    private let end = LentMemory()

    init() { view.initialize(to: larder_dav_response()) }

    static func table(context: UnsafeMutableRawPointer) -> larder_dav_answer {
        larder_dav_answer(
            struct_size: size(of: larder_dav_answer.self), status: 0, context: context,
            next: { table, out in
                serve(table, "dav_answer.next", during: .loop) { context, slot throws(ServiceError) in
                    out.pointee = nil
                    let answer = try slot.opened()
                    try context.checkCancelled()
                    let (view, lent) = (slot.kind.view, slot.kind.response)
                    lent.free()
                    let next = try answer.next()
                    slot.table.pointee.status = UInt32(clamping: answer.status)
                    guard let response = next else { return }
                    view.pointee = larder_dav_response(
                        struct_size: size(of: larder_dav_response.self),
                        status: UInt32(clamping: response.status ?? 200), href: lent.lend(response.href),
                        values: lent.list(response.values), value_count: UInt64(response.values.count),
                        error: lent.names(response.errors))
                    out.pointee = UnsafePointer(view)
                }
            },
            end: { table, out in
                serve(table, "dav_answer.end", during: .loop) { _, slot throws(ServiceError) in
                    let filled = try FilledStruct(out)
                    let answer = try slot.opened()
                    guard let end = answer.end else {
                        throw ServiceError(LARDER_WRONG_STATE, "the answer is not complete yet")
                    }
                    let lent = slot.kind.end
                    filled.fill(
                        with: larder_dav_end(
                            struct_size: size(of: larder_dav_end.self), truncated: end.isTruncated ? 1 : 0,
                            sync_token: end.syncToken.map(lent.lend) ?? larder_str(ptr: nil, len: 0),
                            error: lent.names(end.errors)))
                }
            })
    }

    func free() {
        response.free()
        end.free()
    }
}

extension larder_dav_end: SizedTable {
    static var tableName: String { "end of an answer" }
    static var firstSize: Int { 40 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension LentMemory {
    /// Lends names with spaces between them; an absent text if there are none.
    fileprivate func names(_ names: [String]) -> larder_str {
        names.isEmpty ? larder_str(ptr: nil, len: 0) : lend(names.joined(separator: " "))
    }
}
