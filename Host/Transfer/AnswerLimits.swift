/// The time limits of an answer.
package struct AnswerLimits: Sendable, Hashable {
    /// The limit of a body.
    package enum Body: Sendable, Hashable {
        /// No limit: the body is a stream that ends when the server wishes.
        case none
        /// The limit for the whole answer, from the request on.
        case whole(within: Duration)
        /// The least pace at which the body must arrive.
        case pace(LeastPace)
    }

    /// The limit for everything up to the answer's head, connecting included.
    package var head: Duration
    /// The least pace at which the server must take the body of a request, if the body is a file; nil if it may take any
    /// time. The limit for the head begins when the body has been taken.
    package var upload: LeastPace?
    /// The limit of the body of an answer with a status of success.
    package var body: Body
    /// The limit for the whole body of an answer with any other status, from the answer's head on.
    package var errorDocument: Duration

    package init(head: Duration, upload: LeastPace? = nil, body: Body, errorDocument: Duration) {
        (self.head, self.upload, self.body, self.errorDocument) = (head, upload, body, errorDocument)
    }
}
