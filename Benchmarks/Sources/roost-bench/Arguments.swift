// SPDX-License-Identifier: Apache-2.0

/// What the command line asks for.
struct Arguments {
    enum Mode {
        case help
        case benchmark
        case memory
        /// Started by this program itself: fill a store for the memory check.
        case childFill
        /// Started by this program itself: run one peer alone and report the process's memory.
        case childRSS(PeerKind)
        /// The live rows in place of the table.
        case live
        /// Started by this program itself: commit what the standard input says.
        case childLiveWriter
    }

    static let fullCount = 1_000_000
    static let smokeCount = 20_000

    static let help = """
        usage: roost-bench [options]

        Runs the same work on LMDB in C, SQLite in C, and Roost, and prints ratios to LMDB.

          --count N          items in the table (default 1000000, at least 1000)
          --rounds R         rounds per operation, of which the median counts (default 5)
          --smoke            20000 items, one round: does it run, and do the peers agree?
          --only OP,OP       only these rows: \(Row.allNames.joined(separator: ", "))
          --peers P,P        only these peers: \(PeerKind.allCases.map(\.rawValue).joined(separator: ", "))
          --directory PATH   where the databases are built, in a folder that is removed afterwards
                             (default: the system's folder for temporary files)
          --json FILE        also write every figure of every round as JSON
          --check-bars       exit with 1 if Roost misses an opening bar, or a live one that it holds
          --live             instead of the table: live values, and what they cost; --only takes its groups:
                             \(LiveGroup.allCases.map(\.rawValue).joined(separator: ", "))
          --memory           instead of the table: scan a store in chunks and check the growth of memory
          --help             this text
        """

    var mode = Mode.benchmark
    var count = Arguments.fullCount
    var rounds = 5
    var rows: Set<Row> = Set(Row.all)
    var liveGroups: Set<LiveGroup> = Set(LiveGroup.allCases)
    var peers = PeerKind.allCases
    var directory: String?
    var jsonPath: String?
    var checksBars = false

    init(_ words: [String]) throws {
        var words = words[...]
        func value(of option: String) throws -> String {
            guard let value = words.popFirst() else { throw BenchmarkError("\(option) needs a value") }
            return value
        }
        func number(of option: String, atLeast least: Int) throws -> Int {
            let text = try value(of: option)
            guard let number = Int(text.filter { $0 != "_" }), number >= least else {
                throw BenchmarkError("\(option) needs a number of at least \(least), not '\(text)'")
            }
            return number
        }
        func kind(_ name: some StringProtocol) throws -> PeerKind {
            guard let kind = PeerKind(rawValue: String(name)) else { throw BenchmarkError("no peer '\(name)'") }
            return kind
        }
        // The names after --only are of what is to be run, wherever that is said.
        let isLive = words.contains("--live")
        if isLive { mode = .live }
        while let option = words.popFirst() {
            switch option {
            case "--live":
                break
            case "--count":
                count = try number(of: option, atLeast: Workload.batchSize)
            case "--rounds":
                rounds = try number(of: option, atLeast: 1)
            case "--smoke":
                count = Arguments.smokeCount
                rounds = 1
            case "--only" where isLive:
                liveGroups = Set(
                    try value(of: option).split(separator: ",").map { name in
                        if let group = LiveGroup(rawValue: String(name)) { return group }
                        throw BenchmarkError("no group '\(name)'")
                    })
            case "--only":
                rows = Set(
                    try value(of: option).split(separator: ",").map { name in
                        guard let row = Row(name: String(name)) else {
                            throw BenchmarkError("no row '\(name)'; there are \(Row.allNames.joined(separator: ", "))")
                        }
                        return row
                    })
            case "--peers":
                let asked = Set(try value(of: option).split(separator: ",").map { try kind($0) })
                peers = PeerKind.allCases.filter(asked.contains)
            case "--directory":
                directory = try value(of: option)
            case "--json":
                jsonPath = try value(of: option)
            case "--check-bars":
                checksBars = true
            case "--memory":
                mode = .memory
            case "--child-live-writer":
                mode = .childLiveWriter
            case "--child-fill":
                mode = .childFill
            case "--child-rss":
                mode = .childRSS(try kind(try value(of: option)))
            case "--help", "-h":
                mode = .help
            default:
                throw BenchmarkError("unknown option '\(option)'; --help lists them")
            }
        }
        if checksBars && !isLive && !(peers.contains(.lmdb) && peers.contains(.roost)) {
            throw BenchmarkError("--check-bars needs the peers lmdb and roost")
        }
    }
}

/// A failure that ends the program, in words for its user.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
