extension Condition {
    /// What a policy for a folder says: the folder, and all below it.
    public static func at(orBelow path: ItemPath) -> Condition {
        let below = text(
            TextTest(text: .property(.path), place: .start, part: .text(Text(path.prefixOfItemsBelow))))
        return path.isRoot ? below : anyOf([property(.path, equals: path.text), below])
    }

    /// That a property of text has this value.
    public static func property(_ property: Property, equals text: String) -> Condition {
        comparison(Comparison(left: .property(property), relation: .equal, right: .text(Text(text))))
    }
}
