import HTTPTypes
import NIOCore

extension Answer {
    /// The answer that a fault gives in place of the proper one.
    init?(insteadOf fault: Fault.Kind) {
        switch fault {
        case .status(let code, let retryAfter):
            self.init(.init(code: code))
            if let retryAfter { fields[named: "Retry-After"] = String(retryAfter) }
            if code == 401 { fields[.wwwAuthenticate] = "Basic realm=\"Larder demo\", charset=\"UTF-8\"" }
        case .page:
            self.init(
                .ok, type: "text/html; charset=utf-8",
                text: "<!DOCTYPE html><html><head><title>Log in</title></head><body><form><br></form></body></html>")
        case .refusal(let status, let precondition):
            self = CalendarService.refusal(status, precondition.map(XMLName.dav), XMLWriter(prefixes: .usual))
        case .endless(let code):
            self.init(.init(code: code))
            body = .chunks { sink in
                // Ends when nobody takes it any more.
                while true { try await sink(ByteBuffer(repeating: UInt8(ascii: "."), count: 65_536)) }
            }
        case .redirect(let address, let status):
            self.init(.init(code: status))
            fields[.location] = address
        default: return nil
        }
    }

    /// Has a file's body go on without end.
    mutating func goOnForEver() {
        guard case .content = body else { return }
        let file = self
        body = .chunks { sink in
            try await file.send(to: sink)
            // Ends when nobody takes it any more.
            while true { try await sink(ByteBuffer(repeating: UInt8(ascii: "."), count: 65_536)) }
        }
    }

    /// Makes a file's body longer with zeros, or shorter.
    mutating func change(lengthBy difference: Int) {
        guard case .content(let content, let range) = body else { return }
        if difference <= 0 {
            body = .content(content, range.lowerBound..<max(range.lowerBound, range.upperBound + difference))
        } else if case .memory(var buffer) = content.place {
            buffer.writeRepeatingByte(0, count: difference)
            let longer = Content(Array(buffer.readableBytesView))
            body = .content(longer, range.lowerBound..<range.upperBound + difference)
        }
    }
}
