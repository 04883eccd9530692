import CLarder
import Logging
import Model
import Synchronization

/// `larder.log/1`
let logTable = larder_log(struct_size: size(of: larder_log.self), reserved: 0) { host, level, message in
    serve(host, "log.write", during: .any) { context throws(ServiceError) in
        let levels: [Logger.Level] = [.debug, .info, .warning, .error, .error]
        guard level < UInt32(levels.count) else { throw .unknown("no level \(level)") }
        let text = try message.required("the message")
        let blame = level == LARDER_LOG_HOST_MISBEHAVING ? "the host misbehaves: " : ""
        let said = blame + text.beginning(ofBytes: 4_096)
        context.log.write(levels[Int(level)], said)
        context.trace(.message, "\(levels[Int(level)])", said)
        context.script?.said(level, text)
    }
}

/// `larder.config/1`
let configTable = larder_config(struct_size: size(of: larder_config.self), reserved: 0) { host, out in
    serve(host, "config.settings", during: .any) { context in out.pointee = larder_str(borrowing: context.settings) }
}

/// `larder.clock/1`
let clockTable = larder_clock(
    struct_size: size(of: larder_clock.self), reserved: 0,
    now: { host, out in
        serve(host, "clock.now", during: .any) { context in out.pointee = context.clock.now().nanoseconds }
    },
    monotonic: { host, out in
        serve(host, "clock.monotonic", during: .any) { context in
            out.pointee = context.clock.monotonic().nanoseconds
        }
    })

/// `larder.cancel/1`
let cancelTable = larder_cancel(
    struct_size: size(of: larder_cancel.self), reserved: 0,
    check: { host in
        serve(host, "cancel.check", during: .any) { context throws(ServiceError) in
            try context.checkCancelled()
        }
    },
    deadline: { host, out in
        serve(host, "cancel.deadline", during: .any) { context in
            out.pointee = context.turn?.deadline?.nanoseconds ?? .max
        }
    })

/// `larder.kv/1`
let kvTable = larder_kv(
    struct_size: size(of: larder_kv.self), reserved: 0,
    get: { host, key, out in
        serve(host, "kv.get", during: .work) { context throws(ServiceError) in
            let key = try checked(key: key)
            let asked = context.callValues[key] ?? context.runValues[key]
            let current = if let asked { asked } else { try context.storedValue(for: key) }
            guard let value = current else {
                throw ServiceError(LARDER_NOT_FOUND, "no such key")
            }
            out.pointee = context.lend(value)
        }
    },
    put: { host, key, value in
        serve(host, "kv.put", during: .workWriting) { context throws(ServiceError) in
            let key = try checked(key: key)
            guard value.len <= largestValue else { throw ServiceError(LARDER_LIMIT, "a value above 1 MiB") }
            guard let value = value.copied else { throw ServiceError(LARDER_INVALID_ARGUMENT, "the value is missing") }
            try context.write(value, for: key)
        }
    },
    remove: { host, key in
        serve(host, "kv.remove", during: .workWriting) { context throws(ServiceError) in
            try context.write(nil, for: try checked(key: key))
        }
    })

/// The largest value, and the largest data of a policy, in bytes.
let largestValue: UInt64 = 1 << 20
/// The longest key, in bytes.
let longestKey: UInt64 = 1 << 10

private func checked(key: larder_bytes) throws(ServiceError) -> [UInt8] {
    guard key.len > 0 else { throw ServiceError(LARDER_LIMIT, "an empty key") }
    guard key.len <= longestKey else { throw ServiceError(LARDER_LIMIT, "a key above 1 KiB") }
    guard let bytes = key.copied else { throw ServiceError(LARDER_INVALID_ARGUMENT, "the key is missing") }
    return bytes
}

extension InstanceContext {
    func activeRun() throws(ServiceError) -> any PluginRun {
        guard let run else { throw ServiceError(LARDER_WRONG_STATE, "no run is under way") }
        return run
    }

    fileprivate func storedValue(for key: [UInt8]) throws(ServiceError) -> [UInt8]? {
        if let turn { try turn.value(for: key) } else { try activeRun().value(for: key) }
    }

    fileprivate func write(_ value: [UInt8]?, for key: [UInt8]) throws(ServiceError) {
        try checkQuota(value, for: key)
        if turn != nil {
            try ask(.value(key: key, value: value))
        } else {
            let change: Intent.Change = value.map { .putValue(key: key, value: $0) } ?? .deleteValue(key: key)
            asked.append(Intent(plugin: plugin, change: change, key: nil))
        }
        callValues[key] = .some(value)
    }
}
