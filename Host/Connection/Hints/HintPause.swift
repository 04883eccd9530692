/// How long to leave a server alone before it is asked again.
enum HintPause: Equatable {
    /// For no longer than it takes that not all come back at once.
    case moment
    /// Until it may have something new.
    case short
    case hour
    /// It does not offer this; it may, one day.
    case day
    /// It refuses the credentials for this, which may pass: for longer each time.
    case refused
}
