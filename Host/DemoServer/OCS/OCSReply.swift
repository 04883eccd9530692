import HTTPTypes

/// A service's reply, before it is written in the form that the request wants.
package struct OCSReply: Sendable {
    /// The HTTP status. Version 1 always answers 200 over HTTP and puts the real status into its own code.
    package var status = 200
    package var message = "OK"
    package var data: OCSValue
    /// The code that version 2 reports in place of the status.
    package var code: Int?

    package init(_ data: OCSValue) { self.data = data }

    /// Creates the reply for a failure.
    package init(_ status: Int, _ message: String) { (self.status, self.message, data) = (status, message, .list([])) }

    package static var unknown: OCSReply { OCSReply(404, "Invalid query, please check the syntax.") }

    /// Returns the answer, in XML unless the request says `format=json`.
    package func answer(to request: OCSRequest) -> Answer {
        let code =
            switch status {
            case _ where request.version > 1: self.code ?? status
            case 200: 100
            case 401: 997
            case 404: 998
            case 500: 996
            default: status
            }
        let meta = OCSValue.object([
            ("status", .text(status == 200 ? "ok" : "failure")), ("statuscode", .number(code)),
            ("message", .text(message)),
        ])
        let whole = OCSValue.object([("ocs", .object([("meta", meta), ("data", data)]))])
        let httpStatus = HTTPResponse.Status(code: request.version == 1 ? 200 : status)
        if request.query["format"] == "json" {
            return Answer(httpStatus, type: "application/json; charset=utf-8", text: whole.json)
        }
        return Answer(
            httpStatus, type: "text/xml; charset=utf-8", text: "<?xml version=\"1.0\"?>\n\(whole.xml)\n")
    }
}
