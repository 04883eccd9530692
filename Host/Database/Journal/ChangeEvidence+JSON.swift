import Model

/// The column `evidence` of the journal: a JSON object with a member for each fact that is known, or NULL.
extension ChangeEvidence {
    /// Reads what ``json`` wrote; nil if it makes no sense.
    init?(json text: String) {
        let json: JSONValue
        do throws(JSONValue.ParsingError) { json = try JSONValue(parsing: text) } catch { return nil }
        self.init()
        if case .bool(let wasFree) = json["targetWasFree"] { targetWasFree = wasFree }
        if case .bool(let wasTaken) = json["wasTaken"] { self.wasTaken = wasTaken }
        if case .bool(let isCancelled) = json["isCancelled"] { self.isCancelled = isCancelled }
        if case .string(let digest) = json["seen"], case .integer(let since) = json["seenSince"] {
            observation = Observation(digest: digest, since: Timestamp(nanoseconds: since))
        }
        if case .array(let version) = json["asked"] {
            asked = SeenVersion(nil)
            if version.count == 2, case .string(let opaque) = version[0], case .integer(let strength) = version[1] {
                asked = SeenVersion(ETag(opaque, strength: strength))
            }
        }
    }

    var json: String? {
        var members: [JSONValue.Member] = []
        if let targetWasFree { members.append(.init(name: "targetWasFree", value: .bool(targetWasFree))) }
        if let wasTaken { members.append(.init(name: "wasTaken", value: .bool(wasTaken))) }
        if let isCancelled { members.append(.init(name: "isCancelled", value: .bool(isCancelled))) }
        if let observation {
            members.append(.init(name: "seen", value: .string(observation.digest)))
            members.append(.init(name: "seenSince", value: .integer(observation.since.nanoseconds)))
        }
        if let asked {
            let version = asked.etag.map { [JSONValue.string($0.opaque), .integer(Int64($0.strength.rawValue))] }
            members.append(.init(name: "asked", value: .array(version ?? [])))
        }
        return members.isEmpty ? nil : JSONValue.object(members).text
    }
}
