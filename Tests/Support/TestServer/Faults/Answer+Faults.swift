import DemoServer
import HTTPTypes

extension Answer {
    /// Makes the answer that a fault gives in place of the proper one; nil if the fault gives none.
    init?(insteadOf fault: Fault.Kind) {
        switch fault {
        case .status(let code, let retryAfter, let xml):
            self = code == 401 ? .unauthorized : Answer(.init(code: code))
            if let xml {
                fields[.contentType] = "application/xml; charset=utf-8"
                body = .bytes(Array(xml.utf8))
            }
            if let retryAfter { fields[named: "Retry-After"] = String(retryAfter) }
        case .page:
            self.init(
                .ok, type: "text/html; charset=utf-8",
                text: "<!DOCTYPE html><html><head><title>Log in</title></head><body><form><br></form></body></html>")
        case .refusal(let status, let precondition):
            let writer = XMLWriter(namespaces: CalendarManner.Prefixes.usual.namespaces)
            self = CalendarService.refusal(status, precondition.map(XMLName.dav), writer)
        case .endless(let code):
            self.init(.init(code: code))
            body = .chunks { sink in
                // Ends when the client reads no more.
                while true { try await sink(Array(repeating: UInt8(ascii: "."), count: 65_536)) }
            }
        case .redirect(let address, let status):
            self.init(.init(code: status))
            fields[.location] = address
        default: return nil
        }
    }

    /// Applies the faults that concern the answer's head and the length of its body.
    mutating func spoil(_ faults: [Fault.Kind]) {
        for case .wrongLength(let difference) in faults { change(lengthBy: difference) }
        for case .overlong in faults { goOnForEver() }
        for case .statusAfterwards(let code) in faults { self = Answer(.init(code: code)) }
        for case .wrongOffset(let difference) in faults {
            if let offset = fields[named: "Upload-Offset"].flatMap({ Int($0) }) {
                fields[named: "Upload-Offset"] = String(offset + difference)
            }
        }
        for case .fields(let fields) in faults {
            for (name, value) in fields { self.fields[named: name] = value }
        }
    }

    /// Removes the length of a file's body from the answer.
    mutating func hideLengthOfFile() {
        guard case .content(let content, let range) = body else { return }
        body = .chunks { sink in try await content.send(range, to: sink) }
    }

    /// Makes the body stop after `count` bytes and call `stopped`, which may return to continue the body, or throw.
    mutating func stop(after count: Int, _ stopped: @escaping @Sendable () async throws -> Void) {
        let whole = self
        body = .chunks(length: length) { sink in
            var sent = 0
            var isOver = false
            try await whole.send { chunk in
                var rest = chunk[...]
                if !isOver, sent + chunk.count >= count {
                    let first = rest.prefix(max(0, count - sent))
                    rest = rest.dropFirst(first.count)
                    try await sink(Array(first))
                    sent += first.count
                    try await stopped()
                    isOver = true
                }
                try await sink(Array(rest))
                sent += rest.count
            }
        }
    }

    /// Makes a file's body continue without end.
    private mutating func goOnForEver() {
        guard case .content = body else { return }
        let file = self
        body = .chunks { sink in
            try await file.send(to: sink)
            // Ends when the client reads no more.
            while true { try await sink(Array(repeating: UInt8(ascii: "."), count: 65_536)) }
        }
    }

    /// Makes a file's body longer with zeros, or shorter.
    private mutating func change(lengthBy difference: Int) {
        guard case .content(let content, let range) = body else { return }
        if difference <= 0 {
            body = .content(content, range.lowerBound..<max(range.lowerBound, range.upperBound + difference))
        } else if let bytes = content.memory {
            let longer = Content(bytes + Array(repeating: 0, count: difference))
            body = .content(longer, range.lowerBound..<range.upperBound + difference)
        }
    }
}
