// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Dates as ISO 8601 has them, in UTC, by the Gregorian calendar also for the time before it was introduced.
///
/// Foundation's formats keep milliseconds. A stored date is a Double of seconds, and a condition is to find exactly the
/// date that was printed: the fraction here has as many digits as tell the Double from its neighbours.
enum DateText {
    /// Days from 0001-01-01 to the reference date, 2001-01-01.
    private static let referenceDay = 730_485
    private static let secondsOfDay = 86_400

    // MARK: Printing

    /// `2024-05-31T18:30:00.25Z` for seconds since the reference date. What no year of four digits holds is printed as the
    /// seconds themselves, after `@`.
    static func text(_ seconds: Double) -> String {
        if seconds.isNaN { return "@nan" }
        guard let (whole, fraction) = split(seconds) else { return "@\(seconds)" }
        let (day, time) = divided(whole, by: secondsOfDay)
        guard let (year, month, dayOfMonth) = civil(day) else { return "@\(seconds)" }
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
        let clock = "\(padded(time / 3_600, 2)):\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2))"
        return "\(date)T\(clock)\(fraction.isEmpty ? "" : "." + fraction)Z"
    }

    /// The whole seconds below, and the decimal digits of what is above them, as few as give the same Double again.
    private static func split(_ seconds: Double) -> (whole: Int, fraction: String)? {
        guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
        for digits in 0...20 {
            let text = String(format: "%.\(digits)f", seconds)
            guard Double(text) == seconds else { continue }
            let isNegative = text.hasPrefix("-")
            let parts = text.drop { $0 == "-" }.split(separator: ".")
            guard let magnitude = Int(parts[0]) else { return nil }
            let fraction = parts.count > 1 ? String(parts[1]) : ""
            if !isNegative { return (magnitude, fraction) }
            return fraction.isEmpty ? (-magnitude, "") : (-magnitude - 1, complement(fraction))
        }
        return nil
    }

    /// The digits of 1 - 0.`digits`, which are not all zero.
    private static func complement(_ digits: String) -> String {
        var result: [UInt8] = []
        var borrows = false
        for digit in digits.utf8.reversed() {
            let value = Int(digit - UInt8(ascii: "0"))
            let turned = borrows ? 9 - value : (10 - value) % 10
            if value != 0 { borrows = true }
            result.append(UInt8(turned) + UInt8(ascii: "0"))
        }
        return String(decoding: result.reversed(), as: UTF8.self)
    }

    private static func padded(_ value: Int, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    // MARK: Reading

    /// A date, a date with a time of day, or `@` and seconds since the reference date. Without a zone it is UTC. Nil for
    /// anything else, and for a day or a time that does not exist.
    static func seconds(_ text: String) -> Double? {
        if text.first == "@" { return Double(text.dropFirst()) }
        var scanner = Scanner(text)
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let dayOfMonth = scanner.digits(2), let day = day(year, month, dayOfMonth)
        else { return nil }
        var whole = day * secondsOfDay
        if scanner.isAtEnd { return Double(whole) }
        guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "), let hour = scanner.digits(2), hour < 24,
            scanner.skip(":"), let minute = scanner.digits(2), minute < 60
        else { return nil }
        whole += hour * 3_600 + minute * 60
        var fraction = ""
        if scanner.skip(":") {
            guard let second = scanner.digits(2), second < 60 else { return nil }
            whole += second
            if scanner.skip(".") || scanner.skip(",") {
                fraction = scanner.allDigits()
                if fraction.isEmpty { return nil }
            }
        }
        if !scanner.isAtEnd && !scanner.skip("Z") && !scanner.skip("z") {
            guard let offset = scanner.zone() else { return nil }
            whole -= offset
        }
        guard scanner.isAtEnd else { return nil }
        return joined(whole, fraction)
    }

    /// The Double nearest to the decimal number: rounded once, as it was printed.
    private static func joined(_ whole: Int, _ fraction: String) -> Double? {
        guard whole < 0, fraction.contains(where: { $0 != "0" }) else { return Double("\(whole).\(fraction)0") }
        return Double("-\(-(whole + 1)).\(complement(fraction))")
    }

    private struct Scanner {
        private var rest: Substring.UTF8View

        init(_ text: String) { rest = Substring(text).utf8 }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        mutating func digits(_ count: Int) -> Int? {
            let part = rest.prefix(count)
            guard part.count == count, part.allSatisfy(Self.isDigit) else { return nil }
            rest.removeFirst(count)
            return Int(Substring(part))
        }

        mutating func allDigits() -> String {
            let part = rest.prefix(while: Self.isDigit)
            rest = rest.dropFirst(part.count)
            return String(Substring(part))
        }

        /// `+02:00`, `+0200` or `+02`, in seconds.
        mutating func zone() -> Int? {
            let sign: Int
            if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
            guard let hours = digits(2), hours < 24 else { return nil }
            if isAtEnd { return sign * hours * 3_600 }
            _ = skip(":")
            guard let minutes = digits(2), minutes < 60 else { return nil }
            return sign * (hours * 3_600 + minutes * 60)
        }

        private static func isDigit(_ character: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
        }
    }

    // MARK: The calendar

    /// Days since the reference date.
    private static func day(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        guard (1...12).contains(month), day >= 1, day <= length(year, month) else { return nil }
        return daysBefore(year) + (1..<month).reduce(0) { $0 + length(year, $1) } + day - 1 - referenceDay
    }

    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int)? {
        let absolute = day + referenceDay
        guard absolute >= daysBefore(0), absolute < daysBefore(10_000) else { return nil }
        // 400 years have 146,097 days; the guess is at most one year off.
        var year = divided(absolute * 400, by: 146_097).quotient + 1
        while daysBefore(year) > absolute { year -= 1 }
        while daysBefore(year + 1) <= absolute { year += 1 }
        var rest = absolute - daysBefore(year)
        for month in 1...12 {
            if rest < length(year, month) { return (year, month, rest + 1) }
            rest -= length(year, month)
        }
        return nil
    }

    /// Days from 0001-01-01 to the year's first.
    private static func daysBefore(_ year: Int) -> Int {
        func floor(_ divisor: Int) -> Int { divided(year - 1, by: divisor).quotient }
        return 365 * (year - 1) + floor(4) - floor(100) + floor(400)
    }

    private static func length(_ year: Int, _ month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func divided(_ value: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
