import HTTPTypes
import Hummingbird
import NIOCore

/// A part that answers requests.
package protocol Answering: Sendable {
    /// Returns the answer to a request.
    /// - Parameter asked: The request. It holds its body afterwards if the body was read.
    func answer(to asked: inout Asked) async throws -> Answer

    /// Notes that an answer was sent, with the number of bytes of its body. It is called before the last byte is sent.
    func sent(_ bytes: Int, status: Int, to asked: Asked)
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
        let answer = try await answering.answer(to: &asked)
        let delivery = Delivery(answer: answer, channel: context.channel) { [asked] bytes in
            answering.sent(bytes, status: answer.status.code, to: asked)
        }
        return delivery.response(isHead: request.method == .head)
    }
}
