// SPDX-License-Identifier: Apache-2.0

/// Takes a command's arguments apart: operands, `--option`, `--option value` and `--option=value`. After `--` everything
/// is an operand.
struct ArgumentScanner {
    enum Argument {
        case operand(String)
        case option(String)
    }

    private let command: String
    private var rest: ArraySlice<String>
    private var takesOptions = true
    /// The part behind `=` of the option that was read last.
    private var attached: String?
    private var seen: Set<String> = []

    init(_ arguments: [String], command: String) {
        rest = arguments[...]
        self.command = command
    }

    mutating func next() -> Argument? {
        attached = nil
        guard let argument = rest.popFirst() else { return nil }
        guard takesOptions, argument.hasPrefix("-"), argument != "-" else { return .operand(argument) }
        if argument == "--" {
            takesOptions = false
            return next()
        }
        if argument == "-h" { return .option("--help") }
        guard let equals = argument.firstIndex(of: "=") else { return .option(argument) }
        attached = String(argument[argument.index(after: equals)...])
        return .option(String(argument[..<equals]))
    }

    /// An option without a value, at most once.
    mutating func flag(_ name: String) throws(Command.UsageError) -> Bool {
        guard attached == nil else { throw Command.UsageError("\(name) takes no value") }
        try once(name)
        return true
    }

    mutating func value(of name: String) throws(Command.UsageError) -> String {
        guard let value = attached ?? rest.popFirst() else { throw Command.UsageError("\(name) needs a value") }
        return value
    }

    /// A number of rows, at most once.
    mutating func count(of name: String) throws(Command.UsageError) -> Int {
        try once(name)
        let text = try value(of: name)
        guard let count = Int(text), count >= 0 else {
            throw Command.UsageError("\(name) \(text.debugDescription) is not a number of rows")
        }
        return count
    }

    private mutating func once(_ name: String) throws(Command.UsageError) {
        guard seen.insert(name).inserted else { throw Command.UsageError("\(name) is given twice") }
    }

    func unknown(_ name: String) -> Command.UsageError {
        Command.UsageError("unknown option \(name.debugDescription): see roost \(command) --help")
    }
}
