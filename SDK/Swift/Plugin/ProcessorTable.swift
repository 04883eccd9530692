extension larder_item_policy_processor {
    /// Makes the table whose functions call the processor of the ``Instance`` that is their context.
    static func calling(
        kind: larder_str, fields: ItemFields, maximumRecords: Int?
    ) -> larder_item_policy_processor {
        larder_item_policy_processor(
            struct_size: UInt32(MemoryLayout<larder_item_policy_processor>.size), reserved: 0, kind: kind,
            fields: fields.rawValue,
            triggers: { Instance.at($0).pointee.triggers.rawValue },
            policy_condition: { Instance.at($0).pointee.lend(.policy, to: $1) },
            match_condition: { Instance.at($0).pointee.lend(.match, to: $1) },
            cleanup_condition: { Instance.at($0).pointee.lend(.cleanup, to: $1) },
            update_policies: { context, list in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    try processor.updatePolicies(ItemPolicy.all(in: list.pointee))
                }
            },
            preflight: { context, trigger, changed in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    var cursor = ItemCursor(borrowing: changed)
                    try processor.preflight(for: Trigger(rawValue: trigger), changed: &cursor)
                }
            },
            will_enter_trigger: { context, trigger in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    try processor.willEnter(Trigger(rawValue: trigger))
                }
            },
            begin_matching: { context, trigger in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    try processor.beginMatching(for: Trigger(rawValue: trigger))
                }
            },
            perform_action: { context, trigger, item in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    try processor.performAction(on: Item(item), for: Trigger(rawValue: trigger))
                }
            },
            end_matching: { context, trigger in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    try processor.endMatching(for: Trigger(rawValue: trigger))
                }
            },
            begin_cleanup: { context, trigger in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    try processor.beginCleanup(for: Trigger(rawValue: trigger))
                }
            },
            perform_cleanup: { context, trigger, item in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    try processor.performCleanup(on: Item(item), for: Trigger(rawValue: trigger))
                }
            },
            end_cleanup: { context, trigger in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    try processor.endCleanup(for: Trigger(rawValue: trigger))
                }
            },
            did_pass_trigger: { context, trigger in
                Instance.at(context).pointee.call { processor throws(PluginError) in
                    try processor.didPass(Trigger(rawValue: trigger))
                }
            }, max_records: UInt64(clamping: maximumRecords ?? 0))
    }
}

extension larder_explain {
    /// The table whose function asks the processor of the ``Instance`` that is its context.
    static var asking: larder_explain {
        larder_explain(
            struct_size: UInt32(MemoryLayout<larder_explain>.size), reserved: 0,
            explain: { Instance.at($0).pointee.lendExplanation(of: $1, to: $2) })
    }
}

extension larder_config_schema {
    /// The table whose function hands out the schema of the ``Instance`` that is its context.
    static var handingOut: larder_config_schema {
        larder_config_schema(
            struct_size: UInt32(MemoryLayout<larder_config_schema>.size), reserved: 0,
            schema: { Instance.at($0).pointee.lendSchema(to: $1) })
    }
}
