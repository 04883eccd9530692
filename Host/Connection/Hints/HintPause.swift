/// The pause before the server is asked again.
enum HintPause: Equatable {
    /// A pause that only keeps many clients from returning at the same time.
    case moment
    /// A pause until the server may have something new.
    case short
    /// A pause of an hour, for a server with nothing to announce.
    case hour
    /// A pause of a day, for a server that does not offer the request. It may offer it later.
    case day
    /// A pause while the server rejects the credentials for this request, which may pass. It grows with each rejection.
    case refused
}
