import Core
import FoundationEssentials
import Model

/// A live query as the parameters of a request's target: `?path=/Photos&where=size%20%3E%201000&limit=10`.
extension LiveQuery {
    /// Reads the parameters of a target.
    /// - Returns: The query, and whether the server is asked for the folder first.
    /// - Throws: `usage` if a parameter is not known, is given twice, or has a value that it cannot have; `badData` if a
    ///   condition cannot be read.
    static func read(_ target: String) throws(Failure) -> (LiveQuery, refreshes: Bool) {
        // A target has no host of its own.
        guard let items = URLComponents(string: "http://larder" + target) else {
            throw Failure(.usage, "the parameters of \(target) cannot be read")
        }
        var query = LiveQuery(.contents(of: .root))
        var refreshes = false
        var seen: Set<String> = []
        for item in items.queryItems ?? [] {
            let value = item.value ?? ""
            guard item.name == "where" || seen.insert(item.name).inserted else {
                throw Failure(.usage, "the parameter `\(item.name)` is given twice")
            }
            guard seen.intersection(["path", "item", "localID"]).count < 2 else {
                throw Failure(.usage, "only one of the parameters `path`, `item` and `localID` says what is listed")
            }
            switch item.name {
            case "path": query.target = .contents(of: try CLIArgument.path(value))
            case "item": query.target = .item(at: try CLIArgument.path(value))
            case "localID": query.target = .itemWithID(LocalID(value))
            case "where": query.filters.append(try CLIArgument.itemCondition(value, of: "`where`"))
            case "sort": query.sort = try CLIArgument.property(value)
            case "recursive": query.isRecursive = try flag(item.name, value)
            case "removed": query.includesRemoved = try flag(item.name, value)
            case "descending": query.isDescending = try flag(item.name, value)
            case "refresh": refreshes = try flag(item.name, value)
            case "limit":
                guard let limit = Int(value), limit >= 0 else {
                    throw Failure(.usage, "the parameter `limit` is no number of items: \(value)")
                }
                query.limit = limit
            default: throw Failure(.usage, "there is no parameter `\(item.name)`")
            }
        }
        return (query, refreshes)
    }

    private static func flag(_ name: String, _ value: String) throws(Failure) -> Bool {
        switch value {
        case "1", "true": return true
        case "0", "false": return false
        default: throw Failure(.usage, "the parameter `\(name)` is 1 or 0, not \(value)")
        }
    }

    /// The parameters of a target that asks for the query.
    var parameters: String {
        var items: [URLQueryItem] = []
        switch target {
        case .contents(let path): items.append(URLQueryItem(name: "path", value: path.text))
        case .item(let path): items.append(URLQueryItem(name: "item", value: path.text))
        case .itemWithID(let id): items.append(URLQueryItem(name: "localID", value: id.text))
        }
        items += filters.map { URLQueryItem(name: "where", value: $0.text) }
        if let sort { items.append(URLQueryItem(name: "sort", value: sort.rawValue)) }
        for (name, isSet) in [
            ("recursive", isRecursive), ("removed", includesRemoved), ("descending", isDescending),
        ] where isSet { items.append(URLQueryItem(name: name, value: "1")) }
        if let limit { items.append(URLQueryItem(name: "limit", value: "\(limit)")) }
        var components = URLComponents()
        components.queryItems = items
        // A plus sign stands for itself here; others may read it as a space.
        return "?" + (components.percentEncodedQuery ?? "").replacing("+", with: "%2B")
    }
}
