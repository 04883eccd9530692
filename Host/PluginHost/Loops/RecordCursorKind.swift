import CLarder
import Model

extension larder_record_cursor: SlotTable {
    typealias Kind = RecordCursorKind
}

/// A cursor over records, and the record that it shows.
struct RecordCursorKind: SlotKind {
    typealias Source = (records: any RecordSource, fields: RecordFields)

    static let most = ItemCursorKind.most
    static var closedText: String { "the cursor is closed" }

    private let view = UnsafeMutablePointer<larder_record>.allocate(capacity: 1)
    private let lent = LentMemory()

    init() { view.initialize(to: larder_record()) }

    static func table(context: UnsafeMutableRawPointer) -> larder_record_cursor {
        larder_record_cursor(struct_size: size(of: larder_record_cursor.self), reserved: 0, context: context) {
            cursor, out in
            serve(cursor, "record_cursor.next", during: .work) { context, slot throws(ServiceError) in
                out.pointee = nil
                let (records, fields) = try slot.opened()
                try context.checkCancelled()
                let (view, lent) = (slot.kind.view, slot.kind.lent)
                lent.free()
                guard let record = try records.next() else { return }
                view.pointee = lent.view(record, fields)
                out.pointee = UnsafePointer(view)
            }
        }
    }

    func free() { lent.free() }
}
