/// This program, as it names itself to servers and to people.
public enum Product {
    public static let version = "0.1.0"
}
