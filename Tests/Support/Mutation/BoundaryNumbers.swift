/// Numbers that another program may send where a number is expected, as text and as integers.
public enum BoundaryNumbers {
    /// Texts that are numbers, nearly numbers, or numbers outside the range of common integer types.
    public static let texts = [
        "", " ", "0", "-0", "-1", "+1", " 7 ", "007", "NaN", "inf", "1e30", "0x10", "1.5", "\u{661}",
        "2147483647", "2147483648", "-2147483649", "4294967295", "4294967296", "9007199254740991", "9007199254740993",
        "1152921504606846976", "1152921504606846977", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
        "1000000000000000000000000000000", "-1000000000000000000000000000000",
    ]

    /// Integers at the limits of common integer types, and around usual values.
    public static let integers: [Int64] = [
        0, 1, -1, 60, 61, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 53, 1 << 60, 1 << 62, .max, .max - 1, .min, .min + 1,
    ]

    /// Dates in the forms that servers write, some of them outside the range of 64-bit nanoseconds.
    public static let httpDates = [
        "", "0", "Thu, 01 Jan 0000 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Tue, 21 Sep 1677 00:12:43 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 11 Apr 2262 23:47:16 GMT", "Fri, 11 Apr 2262 23:47:17 GMT",
        "Fri, 31 Dec 9999 23:59:60 GMT", "Fri, 31 Dec 99999 23:59:59 GMT",
    ]
}
