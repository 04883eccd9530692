extension Condition {
    /// Returns the condition of a policy for a folder: it matches the folder and everything below it.
    public static func at(orBelow path: ItemPath) -> Condition {
        let below = text(
            TextTest(text: .property(.path), place: .start, part: .text(Text(path.prefixOfItemsBelow))))
        return path.isRoot ? below : anyOf([property(.path, equals: path.text), below])
    }

    /// Returns the condition that a text property has this value.
    public static func property(_ property: Property, equals text: String) -> Condition {
        comparison(Comparison(left: .property(property), relation: .equal, right: .text(Text(text))))
    }
}
