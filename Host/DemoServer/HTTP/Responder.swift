import HTTPTypes
import Hummingbird
import NIOCore

/// A part that answers requests.
package protocol Answering: Sendable {
    /// Returns the answer to a request.
    /// - Parameter asked: The request. It holds its body afterwards if the body was read.
    func answer(to asked: inout Asked) async throws -> Answer

    /// Notes that an answer was sent, with the number of bytes of its body. It is called before the last byte is sent.
    /// The status is 0 if the connection is closed without an answer.
    func sent(_ bytes: Int, status: Int, to asked: Asked)
}

/// Thrown in place of an answer to close the connection.
package struct Hangup: Error {
    package init() {}
}

/// The context of a request: its connection, which is closed when the answer cannot be completed.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// A responder that parses requests, has them answered, and sends the answers.
struct Responder<Answers: Answering>: HTTPResponder {
    let site: Site
    let answering: Answers

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        var asked = Asked(request, site: site)
        let answer: Answer
        do {
            answer = try await answering.answer(to: &asked)
        } catch let error as Hangup {
            answering.sent(0, status: 0, to: asked)
            try await context.channel.close()
            throw error
        }
        let delivery = Delivery(answer: answer, channel: context.channel) { [asked] bytes in
            answering.sent(bytes, status: answer.status.code, to: asked)
        }
        return delivery.response(isHead: request.method == .head)
    }
}
