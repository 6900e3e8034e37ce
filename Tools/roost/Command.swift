// SPDX-License-Identifier: Apache-2.0

import Roost

/// What the command line asks for.
enum Command {
    struct Info {
        var path: String
        var asJSON = false
    }

    struct Query {
        var path: String
        var query: InspectionQuery
        var explains = false
        var asJSON = false
    }

    enum Topic: String {
        case info, query
    }

    struct UsageError: Error {
        let message: String
        init(_ message: String) { self.message = message }
    }

    case help(Topic?)
    case version
    case info(Info)
    case query(Query)

    init(_ arguments: [String]) throws(UsageError) {
        guard let name = arguments.first else {
            throw UsageError("a command is missing: info or query (see roost --help)")
        }
        let rest = Array(arguments.dropFirst())
        switch name {
        case "--help", "-h", "help":
            guard let topic = rest.first else {
                self = .help(nil)
                return
            }
            guard rest.count == 1, let known = Topic(rawValue: topic) else {
                throw UsageError("there is no help on \(rest.joined(separator: " ").debugDescription)")
            }
            self = .help(known)
        case "--version":
            guard rest.isEmpty else { throw UsageError("--version takes no arguments") }
            self = .version
        case "info": self = try Self.info(rest)
        case "query": self = try Self.query(rest)
        default:
            let kind = name.hasPrefix("-") ? "option" : "command"
            throw UsageError("unknown \(kind) \(name.debugDescription): see roost --help")
        }
    }

    // MARK: Commands

    private static func info(_ arguments: [String]) throws(UsageError) -> Command {
        var scanner = ArgumentScanner(arguments, command: "info")
        var paths: [String] = []
        var asJSON = false
        while let argument = scanner.next() {
            switch argument {
            case .operand(let operand): paths.append(operand)
            case .option("--json"): asJSON = try scanner.flag("--json")
            case .option("--help"): return .help(.info)
            case .option(let name): throw scanner.unknown(name)
            }
        }
        guard let path = paths.first, paths.count == 1 else {
            throw UsageError("info takes one operand, the store's directory: roost info PATH [--json]")
        }
        return .info(Info(path: path, asJSON: asJSON))
    }

    private static func query(_ arguments: [String]) throws(UsageError) -> Command {
        var scanner = ArgumentScanner(arguments, command: "query")
        var operands: [String] = []
        var request = Query(path: "", query: InspectionQuery(entity: ""))
        while let argument = scanner.next() {
            switch argument {
            case .operand(let operand): operands.append(operand)
            case .option("--where"):
                request.query.conditions.append(try condition(try scanner.value(of: "--where")))
            case .option("--sort"): request.query.sort.append(try sort(try scanner.value(of: "--sort")))
            case .option("--limit"): request.query.limit = try scanner.count(of: "--limit")
            case .option("--offset"): request.query.offset = try scanner.count(of: "--offset")
            case .option("--explain"): request.explains = try scanner.flag("--explain")
            case .option("--json"): request.asJSON = try scanner.flag("--json")
            case .option("--help"): return .help(.query)
            case .option(let name): throw scanner.unknown(name)
            }
        }
        guard operands.count == 2 else {
            throw UsageError(
                "query takes two operands, the store's directory and a type: roost query PATH TYPE [OPTION …]")
        }
        request.path = operands[0]
        request.query.entity = operands[1]
        return .query(request)
    }

    // MARK: Parts

    /// `FIELD=VALUE`: names of fields hold none of the operators' characters, values may.
    private static func condition(_ text: String) throws(UsageError) -> InspectionQuery.Condition {
        let malformed = UsageError(
            "--where \(text.debugDescription) is not FIELD=VALUE, or with != < <= > >= ^= in place of =")
        // By scalars: a combining mark at the value's start would make one Character with the operator.
        let scalars = text.unicodeScalars
        guard let start = scalars.firstIndex(where: { "=!<>^".unicodeScalars.contains($0) }), start > scalars.startIndex
        else { throw malformed }
        // The longer operators come first, so that <= is not taken for <.
        let operations = InspectionQuery.Operation.allCases.sorted { $0.rawValue.count > $1.rawValue.count }
        let rest = scalars[start...]
        guard let operation = operations.first(where: { rest.starts(with: $0.rawValue.unicodeScalars) }) else {
            throw malformed
        }
        return InspectionQuery.Condition(
            field: String(scalars[..<start]), operation: operation,
            value: String(rest.dropFirst(operation.rawValue.unicodeScalars.count)))
    }

    private static func sort(_ text: String) throws(UsageError) -> InspectionQuery.Sort {
        guard let colon = text.firstIndex(of: ":") else { return InspectionQuery.Sort(field: text, descending: false) }
        let field = String(text[..<colon])
        switch text[text.index(after: colon)...] {
        case "asc": return InspectionQuery.Sort(field: field, descending: false)
        case "desc": return InspectionQuery.Sort(field: field, descending: true)
        default: throw UsageError("--sort \(text.debugDescription) is not FIELD, FIELD:asc or FIELD:desc")
        }
    }
}
