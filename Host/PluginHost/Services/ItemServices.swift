import CLarder

/// `larder.items/1`
let itemsTable = larder_items(
    struct_size: size(of: larder_items.self), reserved: 0,
    open: { host, query, out in
        serve(host, "items.open", during: .processor) { context throws(ServiceError) in
            let source = try context.activeRun().items(PluginQuery(reading: query))
            out.pointee = try context.slot(of: ItemCursorKind.self).open(source)
        }
    },
    close: { host, cursor in
        serve(host, "items.close", during: .processor) { context throws(ServiceError) in
            try context.close(cursor)
        }
    })

/// `larder.usage/1`
let usageTable = larder_usage(struct_size: size(of: larder_usage.self), reserved: 0) { host, out in
    serve(host, "usage.read", during: .processor) { context throws(ServiceError) in
        let figures = try FilledStruct(out)
        let usage = try context.activeRun().usage()
        figures.fill(
            with: larder_usage_figures(
                struct_size: size(of: larder_usage_figures.self), reserved: 0, local_bytes: usage.localBytes,
                local_copies: usage.localCopies, free_bytes: usage.freeBytes, total_bytes: usage.totalBytes))
    }
}

extension larder_usage_figures: SizedTable {
    static var tableName: String { "usage figures" }
    static var firstSize: Int { 40 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}
