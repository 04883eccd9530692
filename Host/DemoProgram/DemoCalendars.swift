import DemoServer

/// The sample calendars and shares of the demo.
enum DemoCalendars {
    static let home = (id: "home", name: "Home")
    static let work = (id: "work", name: "Work")

    static func fill(_ server: DemoServer) {
        let calendars = server.calendars
        calendars.make(home.id, name: home.name)
        calendars.put(
            [
                "dentist.ics": event("dentist", "Dentist", ["DTSTART:20261203T083000Z", "DTEND:20261203T091500Z"]),
                "holiday.ics": event(
                    "holiday", "Holiday by the sea", ["DTSTART;VALUE=DATE:20270712", "DTEND;VALUE=DATE:20270726"]),
                "taxes.ics": object(
                    "VTODO",
                    ["UID:taxes@demo", "DTSTAMP:20260101T000000Z", "SUMMARY:Taxes", "DUE;VALUE=DATE:20270531"]),
            ], in: home.id)
        calendars.make(work.id, name: work.name, components: ["VEVENT"])
        calendars.put(
            "weekly.ics",
            event(
                "weekly", "Weekly meeting",
                ["DTSTART:20260105T090000Z", "DURATION:PT45M", "RRULE:FREQ=WEEKLY;BYDAY=MO", "LOCATION:Café"]),
            in: work.id)

        server.shares.add(Share("/Documents", .byMe, sharedWith: "grace"))
        server.shares.add(Share("/Photos/2025", .byMe, type: 3, token: "harbour"))
        server.shares.add(Share("/Films", .withMe, owner: "joan"))
    }

    static func addLunch(_ server: DemoServer) {
        server.calendars.put(
            "lunch.ics", event("lunch", "Lunch with Joan", ["DTSTART:20261211T110000Z", "DURATION:PT1H"]), in: work.id)
    }

    private static func event(_ uid: String, _ summary: String, _ lines: [String]) -> String {
        object("VEVENT", ["UID:\(uid)@demo", "DTSTAMP:20260101T000000Z", "SUMMARY:\(summary)"] + lines)
    }

    /// Returns a calendar object with one component, in the format of RFC 5545.
    private static func object(_ component: String, _ lines: [String]) -> String {
        let all =
            ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Larder//Demo//EN", "BEGIN:\(component)"] + lines
            + ["END:\(component)", "END:VCALENDAR", ""]
        return all.joined(separator: "\r\n")
    }
}
