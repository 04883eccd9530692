/// A request as it is sent.
package struct TransferRequest: Sendable {
    package var method: String
    /// The whole address.
    package var url: String
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// The body, if it comes piece by piece.
    package var feed: UploadFeed?
    package var limits: AnswerLimits

    package init(
        method: String, url: String, headers: HTTPHeaders, body: [UInt8] = [], feed: UploadFeed? = nil,
        limits: AnswerLimits
    ) {
        (self.method, self.url, self.headers) = (method, url, headers)
        (self.body, self.feed, self.limits) = (body, feed, limits)
    }

    /// Whether it does not matter how often the server gets the request (RFC 9110, section 9.2.1).
    var isRepeatable: Bool {
        ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT", "SEARCH"].contains(method)
    }

    /// The reason why the request cannot be sent; nil if it can.
    var problem: String? {
        let isToken = { (text: String) in
            !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
        }
        if !isToken(method) { return "its method is not one" }
        for (name, value) in headers {
            if !isToken(name) { return "a field has a name that is not one" }
            // A line end would begin another field.
            if value.utf8.contains(where: { $0 == 0 || $0 == 0x0a || $0 == 0x0d }) {
                return "the value of the field \(name) has a line end"
            }
        }
        return nil
    }
}
