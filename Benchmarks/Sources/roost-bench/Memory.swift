// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The memory of this process, as Linux tells it. Elsewhere every figure is 0, and the rows are printed empty.
enum ProcessMemory {
    /// All of it, mapped files included.
    static var resident: Int { status("VmRSS") }
    /// The most there has been since `resetPeak()`.
    static var peakResident: Int { status("VmHWM") }
    /// Without mapped files: what the program itself allocated.
    static var anonymous: Int { status("RssAnon") }

    static func resetPeak() {
        #if os(Linux)
            // Where this is forbidden the peak counts from the start of the process.
            try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        #endif
    }

    private static func status(_ name: String) -> Int {
        #if os(Linux)
            guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
            for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
                let kibibytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
                return (kibibytes.flatMap { Int($0) } ?? 0) * 1024
            }
        #endif
        return 0
    }
}

/// Runs this program again with other arguments, and returns what it printed.
func runSelf(_ arguments: [String]) throws -> String {
    let child = Process()
    child.executableURL = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    child.arguments = arguments
    let output = Pipe()
    child.standardOutput = output
    try child.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    child.waitUntilExit()
    guard child.terminationStatus == 0 else {
        throw BenchmarkError("the child process \(arguments.joined(separator: " ")) failed")
    }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}

// MARK: Children

/// In a child: each operation asked for once on one peer, then the memory before opening and the peak, in bytes.
func reportRSSToParent(_ kind: PeerKind, _ arguments: Arguments) throws {
    guard let directory = arguments.directory else { throw BenchmarkError("--child-rss needs --directory") }
    let workload = Workload(count: arguments.count)
    let peer = kind.makePeer()
    peer.prepare(workload)
    if kind == .roost {
        // Roost has the items as Swift values; their C form would only count twice.
        workload.releaseItems()
    }
    ProcessMemory.resetPeak()
    let base = ProcessMemory.resident
    try peer.open(URL(fileURLWithPath: directory), durable: false)
    _ = try peer.run(.insertSeqBulk, workload)
    for operation in Operation.allCases
    where arguments.rows.contains(.operation(operation)) && !operation.fillsFreshDatabase {
        _ = try peer.run(operation, workload)
    }
    let peak = ProcessMemory.peakResident
    try peer.close()
    print(base, peak)
}

/// In a child: fills a Roost store, then prints the checksum that a scan of it must have.
func fillForParent(_ arguments: Arguments) throws {
    guard let directory = arguments.directory else { throw BenchmarkError("--child-fill needs --directory") }
    let workload = Workload(count: arguments.count)
    let peer = PeerKind.roost.makePeer()
    peer.prepare(workload)
    try peer.open(URL(fileURLWithPath: directory), durable: false)
    _ = try peer.run(.insertSeqBulk, workload)
    try peer.close()
    print(hexadecimal(workload.expectation(.scanAll).checksum))
}

// MARK: The check

/// Scans a store in chunks of 1,000 and watches the memory outside of the mapped file.
///
/// The store is filled by another process, so that no memory is left over here that the scan could use unseen.
///
/// - Returns: Whether memory stayed within the limit.
func measureChunkedScan(_ arguments: Arguments) async throws -> Bool {
    let limit = 32 * 1024 * 1024
    let folder = try WorkingFolder(in: arguments.directory)
    defer { folder.remove() }
    let directory = try folder.makeEmpty("roost")
    let expected = try runSelf(["--child-fill", "--count", "\(arguments.count)", "--directory", directory.path])

    let peer = RoostPeer()
    try peer.open(directory, durable: true)
    let base = ProcessMemory.anonymous
    var peak = base
    var samples = 0
    let found = try await peer.scanInChunks(size: 1_000) {
        peak = max(peak, ProcessMemory.anonymous)
        samples += 1
    }
    try peer.close()

    guard hexadecimal(found.checksum) == expected else {
        throw BenchmarkError(
            """
            WRONG RESULT: the chunked scan has the checksum \(hexadecimal(found.checksum)) over \(found.rows) items; \
            the data demand \(expected) over \(arguments.count)
            """)
    }
    guard base > 0 else {
        print("Chunked scan of \(found.rows) items: memory cannot be read on this system.")
        return true
    }
    let growth = peak - base
    print(
        """
        Chunked scan of \(found.rows) items, \(samples) chunks of up to 1000:
        anonymous memory before \(mebibytes(base)), at most \(mebibytes(peak)), growth \(mebibytes(growth)) \
        (limit \(mebibytes(limit))): \(growth <= limit ? "within the limit" : "ABOVE THE LIMIT")
        """)
    return growth <= limit
}

func mebibytes(_ bytes: Int) -> String {
    String(format: "%.1f MiB", Double(bytes) / 1_048_576)
}
