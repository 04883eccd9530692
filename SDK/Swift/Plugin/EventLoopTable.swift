extension larder_event_loop {
    /// Makes the table whose functions call the loop of the ``Instance`` that is their context.
    static func calling(
        kind: larder_str, collection: larder_str, refreshBits: RefreshSet, hints: HintSet
    ) -> larder_event_loop {
        larder_event_loop(
            struct_size: UInt32(MemoryLayout<larder_event_loop>.size), refresh_bits: refreshBits.rawValue, kind: kind,
            collection: collection, hints: hints.rawValue, reserved: 0,
            poll: { context, loop, out in
                Instance.at(context).pointee.callLoop { running throws(PluginError) in
                    try running.poll(loop.pointee, out: out)
                }
            },
            process: { context, loop, page in
                Instance.at(context).pointee.callLoop { running throws(PluginError) in
                    try running.process(loop.pointee, page.pointee)
                }
            },
            refresh: { context, loop, what, out in
                Instance.at(context).pointee.callLoop { running throws(PluginError) in
                    try running.refresh(loop.pointee, what: what, out: out)
                }
            },
            on_error: { context, loop, error in
                let id = Text(unsafe: loop.pointee.id).copied()
                let told = LoopError(error.pointee)
                _ = Instance.at(context).pointee.callLoop { running throws(PluginError) in
                    running.onError(told, of: id)
                }
            },
            release_page: { context, page in
                _ = Instance.at(context).pointee.callLoop { running throws(PluginError) in running.release(page) }
            })
    }
}
