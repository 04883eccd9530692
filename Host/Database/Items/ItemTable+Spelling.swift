public import Model

extension ItemTable {
    /// Returns a path with the names in it spelled as the items have them whose names are the same but for Unicode's
    /// normalization form. An item with exactly this name comes first. What is not known stays as it is.
    public func spelling(of path: ItemPath) throws -> ItemPath {
        var known = ItemPath.root
        for (index, name) in path.components.enumerated() {
            let exact = ItemPath(unchecked: known.prefixOfItemsBelow + name)
            var found: String?
            if try item(at: exact) != nil {
                found = name
            } else {
                // Texts are equal in Swift if they are the same in every normalization form.
                try forEachUnusualName(in: known) { _, other in if other == name { found = other } }
            }
            guard let found else {
                return path.components.dropFirst(index).reduce(known) {
                    ItemPath(unchecked: $0.prefixOfItemsBelow + $1)
                }
            }
            known = ItemPath(unchecked: known.prefixOfItemsBelow + found)
        }
        return known
    }
}
