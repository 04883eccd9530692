/// This program's identification for servers and people.
public enum Product {
    /// The program's version.
    public static let version = "0.1.0"
}
