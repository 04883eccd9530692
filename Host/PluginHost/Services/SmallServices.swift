import CLarder
import Logging
import Model
import Synchronization

/// `larder.log/1`
let logTable = larder_log(struct_size: size(of: larder_log.self), reserved: 0) { host, level, message in
    serve(host, "log.write", during: .any) { context throws(ServiceError) in
        let levels: [Logger.Level] = [.debug, .info, .warning, .error, .error]
        guard level < UInt32(levels.count) else { throw ServiceError(LARDER_INVALID_ARGUMENT, "no level \(level)") }
        let text = try message.required("the message")
        let blame = level == LARDER_LOG_HOST_MISBEHAVING ? "the host misbehaves: " : ""
        context.log.write(levels[Int(level)], blame + String(decoding: text.utf8.prefix(4096), as: UTF8.self))
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
            if context.isCancelled.load(ordering: .relaxed) { throw ServiceError(LARDER_CANCELLED, "") }
        }
    },
    // Inside the host's process nothing can end a call but the call itself.
    deadline: { host, out in serve(host, "cancel.deadline", during: .any) { _ in out.pointee = .max } })

/// `larder.kv/1`
let kvTable = larder_kv(
    struct_size: size(of: larder_kv.self), reserved: 0,
    get: { host, key, out in
        serve(host, "kv.get", during: .processor) { context throws(ServiceError) in
            let run = try context.activeRun()
            let key = try checked(key: key)
            let asked = context.callValues[key] ?? context.runValues[key]
            let current = if let asked { asked } else { try run.value(for: key) }
            guard let value = current else {
                throw ServiceError(LARDER_NOT_FOUND, "no such key")
            }
            out.pointee = context.lend(value)
        }
    },
    put: { host, key, value in
        serve(host, "kv.put", during: .processor) { context throws(ServiceError) in
            let key = try checked(key: key)
            guard value.len <= largestValue else { throw ServiceError(LARDER_LIMIT, "a value above 1 MiB") }
            guard let value = value.copied else { throw ServiceError(LARDER_INVALID_ARGUMENT, "the value is missing") }
            context.callValues[key] = .some(value)
            context.asked.append(Intent(plugin: context.plugin, change: .putValue(key: key, value: value), key: nil))
        }
    },
    remove: { host, key in
        serve(host, "kv.remove", during: .processor) { context throws(ServiceError) in
            let key = try checked(key: key)
            context.callValues[key] = .some(nil)
            context.asked.append(Intent(plugin: context.plugin, change: .deleteValue(key: key), key: nil))
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
}
