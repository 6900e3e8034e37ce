// SPDX-License-Identifier: Apache-2.0

import CPeers
import Foundation

/// What the figures were taken with.
struct Machine: Encodable {
    var cores: Int
    var operatingSystem: String
    var lmdb: String
    var sqlite: String
    var swift: String

    static var current: Machine {
        Machine(
            cores: ProcessInfo.processInfo.processorCount,
            operatingSystem: ProcessInfo.processInfo.operatingSystemVersionString,
            lmdb: version(String(cString: bench_lmdb_version())),
            sqlite: String(cString: bench_sqlite_version()),
            swift: swiftVersion)
    }

    /// `0.9.24` out of `LMDB 0.9.24: (July 24, 2019)`.
    private static func version(_ text: String) -> String {
        text.split(whereSeparator: { " :".contains($0) }).first { $0.first?.isNumber == true }.map(String.init) ?? text
    }

    /// The compiler does not tell its version at run time, so it is asked at compile time.
    private static var swiftVersion: String {
        #if compiler(>=6.5)
            "6.5 or newer"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #elseif compiler(>=6.2)
            "6.2"
        #else
            "6.1"
        #endif
    }
}

/// Everything that was measured, each round of it.
func jsonReport(_ results: Results) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(JSONReport(results))
}

private struct JSONReport: Encodable {
    struct Peer: Encodable {
        var roundsNanoseconds: [Double]
        var medianNanoseconds: Double
        var ratioToLMDB: Double?
        var checksum: String
    }

    struct Row: Encodable {
        var operation: String
        var unit: String
        var bar: Double?
        var openingBar: Double?
        var peers: [String: Peer]
    }

    struct Memory: Encodable {
        var baseBytes: Int
        var peakBytes: Int
    }

    var machine = Machine.current
    var count: Int
    var rounds: Int
    var operations: [Row]
    var fileSizeBytes: [String: Int]
    var residentMemory: [String: Memory]

    init(_ results: Results) {
        count = results.count
        rounds = results.rounds
        operations = results.operations.map { operation in
            let peers = (results.measurements[operation] ?? [:]).map { kind, measurement in
                (
                    kind.rawValue,
                    Peer(
                        roundsNanoseconds: measurement.rounds,
                        medianNanoseconds: measurement.median,
                        ratioToLMDB: results.ratio(operation, kind),
                        checksum: hexadecimal(measurement.checksum))
                )
            }
            return Row(
                operation: operation.rawValue, unit: operation.unit, bar: operation.bar,
                openingBar: operation.openingBar, peers: Dictionary(uniqueKeysWithValues: peers))
        }
        fileSizeBytes = Dictionary(uniqueKeysWithValues: results.fileSizes.map { ($0.rawValue, $1) })
        residentMemory = Dictionary(
            uniqueKeysWithValues: results.memory.map {
                ($0.rawValue, Memory(baseBytes: $1.base, peakBytes: $1.peak))
            })
    }
}
