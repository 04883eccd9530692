import DemoServer

extension TestBehavior {
    func answer(_ request: OCSRequest, by service: OCSService) -> Answer {
        if request.path.hasPrefix(ShareService.path) { return shares(request, service).answer(to: request) }
        if HintService.serves(request.path) {
            return HintService(hints: hints, manner: manner.hints, user: user).answer(request)
        }
        var reply = service.reply(to: request)
        switch request.path {
        case "/cloud/capabilities": change(&reply.data)
        case "/cloud/user": reply.data = service.account(quota: quota ?? manner.quota)
        default: break
        }
        return reply.answer(to: request)
    }

    private func shares(_ request: OCSRequest, _ service: OCSService) -> OCSReply {
        let manner = manner.shares
        guard manner.offered else { return .unknown }
        var request = request
        if manner.pending == .byAddress {
            request.query["state"] = nil
            if request.path == ShareService.path + "shares/pending" {
                request.path = ShareService.path + "shares"
                request.query = ["shared_with_me": "true", "state": "1"]
            }
        }
        var reply = service.reply(to: request)
        if !manner.enabled, request.method == "GET" { reply = OCSReply(.list([])) }
        guard reply.status == 200 else { return reply }
        reply.data = reply.data.varied(numbersAsText: manner.numbersAsText, reversed: manner.fieldsReversed)
        if manner.alwaysHundred { reply.code = 100 }
        return reply
    }

    /// Adds to the capabilities what Nextcloud tells.
    private func change(_ parts: inout OCSValue, to nextcloud: NextcloudManner) {
        func list(_ texts: [String]) -> OCSValue { .list(texts.map(OCSValue.text)) }
        var files = parts["files"] ?? .null
        if let largest = nextcloud.largestPart {
            files["chunked_upload"] = .object([("max_size", .number(largest)), ("max_parallel_count", .number(5))])
        }
        if nextcloud.listsForbidden {
            files["blacklisted_files"] = list(nextcloud.names)
            files["forbidden_filenames"] = list(nextcloud.names)
            files["forbidden_filename_basenames"] = list(nextcloud.basenames)
            files["forbidden_filename_characters"] = list(nextcloud.characters)
            files["forbidden_filename_extensions"] = list(nextcloud.endings)
        }
        parts["files"] = files
        let dav: [(name: String, value: OCSValue)] =
            (nextcloud.largestPart == nil ? [] : [("chunking", .text("1.0"))])
            + (nextcloud.offersBulk ? [("bulkupload", .text("1.0"))] : [])
        parts["dav"] = .object(dav)
    }

    /// Changes the capabilities to those of the server's manner.
    private func change(_ capabilities: inout OCSValue) {
        var parts = capabilities["capabilities"] ?? .null
        var core = parts["core"] ?? .null
        core["pollinterval"] = manner.pollInterval.map(OCSValue.number)
        if manner.hints.stream { core["support-sse"] = .bool(true) }
        parts["core"] = core
        if let tus = manner.tus {
            var files = parts["files"] ?? .null
            files["tus_support"] = .object([
                ("version", .text("1.0.0")), ("resumable", .text("1.0.0")),
                ("extension", .text("creation,creation-with-upload")), ("max_chunk_size", .number(tus.largestChunk)),
                ("http_method_override", .text(tus.methodOverride)),
            ])
            parts["files"] = files
        }
        if let nextcloud = manner.nextcloud { change(&parts, to: nextcloud) }
        if !manner.shares.offered {
            parts["files_sharing"] = nil
        } else if !manner.shares.enabled {
            parts["files_sharing"] = .object([
                ("api_enabled", .bool(false)), ("resharing", .bool(false)),
                ("public", .object([("enabled", .bool(false))])),
            ])
        }
        if manner.hints.notifications != .absent {
            let endpoints = ["list", "get", "delete"].map(OCSValue.text)
            parts["notifications"] = .object([("ocs-endpoints", .list(endpoints))])
        }
        if manner.hints.activity {
            parts["activity"] = .object([("apiv2", .list([.text("filters"), .text("rich-strings")]))])
        }
        capabilities["capabilities"] = parts
    }
}

extension OCSValue {
    /// The value of an object's field; nil if the object has no such field.
    fileprivate subscript(name: String) -> OCSValue? {
        get {
            guard case .object(let fields) = self else { return nil }
            return fields.first { $0.name == name }?.value
        }
        set {
            guard case .object(var fields) = self else { return }
            let index = fields.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append((name, value))
            case (nil, nil): break
            }
            self = .object(fields)
        }
    }

    /// Returns the value with numbers as texts and the fields of objects in reverse order, as other versions of a
    /// server may write them.
    fileprivate func varied(numbersAsText: Bool, reversed: Bool) -> OCSValue {
        switch self {
        case .number(let number) where numbersAsText: .text("\(number)")
        case .list(let values): .list(values.map { $0.varied(numbersAsText: numbersAsText, reversed: reversed) })
        case .object(let fields):
            .object(
                (reversed ? fields.reversed() : fields).map {
                    ($0.name, $0.value.varied(numbersAsText: numbersAsText, reversed: reversed))
                })
        default: self
        }
    }
}
