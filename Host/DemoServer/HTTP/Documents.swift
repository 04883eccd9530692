import HTTPTypes

/// What a server of the ownCloud family says of itself.
enum Documents {
    static let status = Answer(
        .ok, type: "application/json",
        text: """
            {"installed":true,"maintenance":false,"needsDbUpgrade":false,"version":"10.15.0.0",\
            "versionstring":"10.15.0","edition":"Community","productname":"Larder demo"}
            """)

    static func capabilities(version: Int, manner: Manner) -> Answer {
        let interval = manner.pollInterval.map { ",\"pollinterval\":\($0)" } ?? ""
        return ocs(
            version: version,
            data: """
                {"version":{"major":10,"minor":15,"micro":0,"string":"10.15.0","edition":"Community"},\
                "capabilities":{"core":{"webdav-root":"remote.php/webdav"\(interval)},\
                "checksums":{"supportedTypes":["SHA1"],"preferredUploadType":"SHA1"},\
                "files":{"bigfilechunking":false,"undelete":false,"versioning":false}}}
                """)
    }

    /// - Parameter user: letters and digits alone.
    static func user(version: Int, user: String) -> Answer {
        ocs(version: version, data: "{\"id\":\"\(user)\",\"display-name\":\"\(user)\",\"email\":null}")
    }

    private static func ocs(version: Int, data: String) -> Answer {
        let code = version == 1 ? 100 : 200
        return Answer(
            .ok, type: "application/json; charset=utf-8",
            text: """
                {"ocs":{"meta":{"status":"ok","statuscode":\(code),"message":"OK"},"data":\(data)}}
                """)
    }
}
