import CLarder
import Model
import Synchronization

extension larder_item_cursor: SlotTable {
    typealias Kind = ItemCursorKind
}

/// A cursor over items, and the item that it shows.
struct ItemCursorKind: SlotKind {
    typealias Source = any ItemSource

    static let most = 16
    static var tooManyText: String { "more than \(most) cursors are open" }
    static var closedText: String { "the cursor is closed" }
    static var notOpenText: String { "no cursor that items.open handed out is open there" }

    private let view = UnsafeMutablePointer<larder_item>.allocate(capacity: 1)

    init() { view.initialize(to: emptyItemView()) }

    static func table(context: UnsafeMutableRawPointer) -> larder_item_cursor {
        larder_item_cursor(struct_size: size(of: larder_item_cursor.self), reserved: 0, context: context) {
            cursor, out in
            serve(cursor, "item_cursor.next", during: .processor) { context, slot throws(ServiceError) in
                out.pointee = nil
                let source = try slot.opened()
                if context.isCancelled.load(ordering: .relaxed) { throw ServiceError(LARDER_CANCELLED, "") }
                let view = slot.kind.view
                do throws(Failure) {
                    if try source.next(&view.pointee) { out.pointee = UnsafePointer(view) }
                } catch {
                    throw ServiceError(LARDER_IO, error.message)
                }
            }
        }
    }
}
