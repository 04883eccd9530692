import Logging
import Model

/// The log's level and format.
struct LogConfig: Hashable, Sendable {
    enum Format: String, CaseIterable, Hashable, Sendable { case text, json, journal }

    var level = Logger.Level.info
    var format = Format.text

    init() {}

    init(_ pair: ConfigPair?, in decoding: ConfigDecoding) {
        var map = ConfigMap(pair?.value, at: "log", in: decoding)
        level = map.scalar(
            "level", or: Logger.Level.info, json: { .string($0.rawValue) },
            parse: { text, _ throws(Wrong) in
                try ConfigScalar.word(text, of: Logger.Level.self)
            })
        format = map.scalar(
            "format", or: Format.text, json: { .string($0.rawValue) },
            parse: { text, _ throws(Wrong) in
                try ConfigScalar.word(text, of: Format.self)
            })
        map.refuseUnknown()
    }
}

extension Settings {
    /// Decodes the settings of the whole program.
    /// - Parameter map: the map of the whole file, from which the keys beside `accounts` and `log` are taken.
    init(_ map: inout ConfigMap) {
        self.init()
        poll = map.scalar(
            "poll", or: nil, json: { .string($0.map(ConfigScalar.write)) },
            parse: { text, _ throws(Wrong) in
                try ConfigScalar.duration(text, atLeast: .seconds(1))
            })
        walk = map.scalar(
            "walk", or: walk, json: { .string(ConfigScalar.write($0)) },
            parse: { text, _ throws(Wrong) in
                try ConfigScalar.duration(text, atLeast: .seconds(1))
            })
        removalGuard = Self.removalGuard(map.take("removal-guard"), in: map.decoding)
        limits = Self.limits(map.take("limits"), in: map.decoding)
        var disk = ConfigMap(map.take("disk")?.value, at: "disk", in: map.decoding)
        keepFree = disk.scalar(
            "keep-free", or: nil, json: { .string($0.map(ConfigScalar.writeSize)) },
            parse: { text, _ throws(Wrong) in try ConfigScalar.size(text) })
        disk.refuseUnknown()
        shutdownTimeout = map.scalar(
            "shutdown-timeout", or: shutdownTimeout, json: { .string(ConfigScalar.write($0)) },
            parse: { text, _ throws(Wrong) in
                try ConfigScalar.duration(text, atLeast: .seconds(1))
            })
        let plugins = PluginsConfig(map.take("plugins"), in: map.decoding)
        pluginPaths = plugins.folders
        self.plugins = plugins.plugins
    }

    /// Decodes the removal guard, which is a map or the word `off`.
    private static func removalGuard(_ pair: ConfigPair?, in decoding: ConfigDecoding) -> RemovalGuard? {
        if let pair, case .scalar(let text, _) = pair.value.content, !pair.value.isNull {
            guard text != "off" else {
                decoding.show("removal-guard", .string("off"), pair.value.source)
                return nil
            }
            decoding.refuse(
                pair.value.source,
                "`removal-guard`: `\(text)` is neither `off` nor a map like `{ share: 50%, items: 1000 }`")
            return RemovalGuard()
        }
        var map = ConfigMap(pair?.value, at: "removal-guard", in: decoding)
        var removalGuard = RemovalGuard()
        removalGuard.share = map.scalar(
            "share", or: removalGuard.share, json: { .string(ConfigScalar.writeShare($0)) },
            parse: { text, _ throws(Wrong) in try ConfigScalar.share(text) })
        removalGuard.items = map.scalar(
            "items", or: removalGuard.items, json: { .integer($0) },
            parse: { text, _ throws(Wrong) in try ConfigScalar.int(text, in: 0...1_000_000_000) })
        map.refuseUnknown()
        return removalGuard
    }

    private static func limits(_ pair: ConfigPair?, in decoding: ConfigDecoding) -> Limits {
        var map = ConfigMap(pair?.value, at: "limits", in: decoding)
        var limits = Limits()
        func number(_ key: String, _ fallback: Int) -> Int {
            map.scalar(
                key, or: fallback, json: { .integer($0) },
                parse: { text, _ throws(Wrong) in
                    try ConfigScalar.int(text, in: 1...256)
                })
        }
        func most(_ key: String) -> Int? {
            map.scalar(
                key, or: nil, json: { $0.map { .integer($0) } ?? .string("auto") },
                parse: { text, _ throws(Wrong) in
                    if text == "auto" { return nil }
                    do { return try ConfigScalar.int(text, in: 1...256) } catch {
                        throw Wrong("`\(text)` is neither auto nor a whole number from 1 to 256")
                    }
                })
        }
        limits.connections = most("connections")
        limits.downloads = most("downloads")
        limits.uploads = most("uploads")
        limits.actions = number("actions", limits.actions)
        var bandwidth = ConfigMap(map.take("bandwidth")?.value, at: "limits.bandwidth", in: decoding)
        func rate(_ key: String) -> Int64? {
            bandwidth.scalar(
                key, or: nil, json: { .string($0.map(ConfigScalar.writeSize)) },
                parse: { text, _ throws(Wrong) in try ConfigScalar.rate(text) })
        }
        limits.bandwidth = BandwidthLimits(up: rate("up"), down: rate("down"))
        bandwidth.refuseUnknown()
        limits.slowest = map.scalar(
            "slowest", or: limits.slowest, json: { .string(ConfigScalar.writeSize($0)) },
            parse: { text, _ throws(Wrong) in try ConfigScalar.size(text) })
        map.refuseUnknown()
        return limits
    }
}
