// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import Roost

/// One at a time: the handler is the process's. Other tests' messages come by as well, hence the marks.
@Suite(.serialized)
struct DiagnosticsTests {
    private final class Recorder: Sendable {
        private let all = Mutex<[Diagnostic]>([])
        func add(_ diagnostic: Diagnostic) { all.withLock { $0.append(diagnostic) } }
        func marked(_ path: String) -> [Diagnostic] { all.withLock { $0.filter { $0.place.path == path } } }
    }

    @Test func handlerGetsTheMessageInItsParts() {
        let recorder = Recorder()
        let done = DispatchSemaphore(value: 0)
        Diagnostics.setHandler { diagnostic in
            recorder.add(diagnostic)
            if diagnostic.place.path == "/parts" { done.signal() }
        }
        defer { Diagnostics.setHandler(nil) }
        Diagnostics.report(.longReader, "It is long.", entity: "City", path: "/parts")
        done.wait()
        let message = recorder.marked("/parts").first
        #expect(message?.code == .longReader)
        #expect(message?.place.entity == "City")
        #expect(message?.description == "Roost: It is long. [longReader]")
    }

    /// What a handler holds used to go away under the lock that a report takes.
    @Test func handlerThatIsReplacedMayReportAsItGoesAway() {
        final class Last: Sendable {
            deinit { Diagnostics.report(.longReader, "last words", path: "/last") }
        }
        let (recorder, done) = (Recorder(), DispatchSemaphore(value: 0))
        func setFirst() {
            let last = Last()
            Diagnostics.setHandler { _ in withExtendedLifetime(last) {} }
        }
        setFirst()
        Diagnostics.setHandler { diagnostic in
            recorder.add(diagnostic)
            if diagnostic.place.path == "/last" { done.signal() }
        }
        defer { Diagnostics.setHandler(nil) }
        done.wait()
        #expect(recorder.marked("/last").count == 1)
    }

    /// Looking for other processes' commits may fail many times a second.
    @Test func pollThatFailsIsToldOncePerStreak() {
        final class Quiet: CommitSubscriber {
            let wantsImages = false
            func receive(_ commit: CommitRecord) {}
        }
        let recorder = Recorder()
        let done = DispatchSemaphore(value: 0)
        Diagnostics.setHandler { diagnostic in
            recorder.add(diagnostic)
            if diagnostic.place.path == "/poll", diagnostic.message == "end" { done.signal() }
        }
        defer { Diagnostics.setHandler(nil) }
        // Two that fail, one that does not, two that fail; and so for ever.
        let looks = Mutex(0)
        let told = Mutex<(@Sendable () -> Void)?>(nil)
        let looked = DispatchSemaphore(value: 0)
        let bus = Bus(
            sequence: 0,
            source: Bus.Source(
                newestSnapshot: { looks.withLock { $0 } + 100 },
                lastCommit: {
                    let look = looks.withLock { looks in
                        defer { looks += 1 }
                        return looks
                    }
                    defer { looked.signal() }
                    // The first is the subscription's.
                    if look > 0, look % 3 != 0 { throw StoreError(.system, "no reader") }
                    return (0, look + 100)
                },
                watch: { written in
                    told.withLock { $0 = written }
                    return looked
                },
                path: "/poll"),
            intervals: .init(whileTold: .max / 4, untold: .max / 4, firstRetry: .max / 4))
        let subscriber = Quiet()
        bus.subscribe(subscriber)
        for look in 0..<10 {
            if look > 1 { told.withLock { $0 }?() }
            looked.wait()
            bus.thread.sync {}
        }
        bus.unsubscribe(subscriber)
        Diagnostics.report(.pollFailed, "end", path: "/poll")
        done.wait()
        let messages = recorder.marked("/poll").dropLast()
        #expect(messages.count == 3)
        #expect(messages.allSatisfy { $0.code == .pollFailed && $0.message.contains("no reader") })
    }

    /// A handler that never returned would otherwise hold up the bus, or a writer, that reports.
    @Test func handlerThatDoesNotReturnHoldsUpNobodyAndNotMoreThanSoManyWait() {
        let recorder = Recorder()
        let (entered, release, last) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        // Whoever reports next says how many were dropped: it may be another test.
        let drops = Log<String>()
        Diagnostics.setHandler { diagnostic in
            if diagnostic.message.contains("messages before it were dropped") { drops.note(diagnostic.message) }
            guard diagnostic.place.path == "/stuck" else { return }
            recorder.add(diagnostic)
            if diagnostic.message == "first" {
                entered.signal()
                release.wait()
            }
            if diagnostic.message.hasPrefix("last") { last.signal() }
        }
        defer { Diagnostics.setHandler(nil) }
        Diagnostics.report(.pollFailed, "first", path: "/stuck")
        entered.wait()
        for _ in 0..<(2 * Diagnostics.waitingLimit) { Diagnostics.report(.pollFailed, "more", path: "/stuck") }
        release.signal()
        // The one that says how many were dropped may itself come while the line is still full.
        repeat {
            Diagnostics.report(.pollFailed, "last", path: "/stuck")
        } while last.wait(timeout: .now() + .milliseconds(10)) == .timedOut
        let messages = recorder.marked("/stuck")
        #expect(messages.count { $0.message.hasPrefix("more") } < Diagnostics.waitingLimit)
        #expect(!drops.noted.isEmpty)
    }
}

struct StandardErrorTests {
    private func withPipe(_ body: (_ reader: Int32, _ writer: Int32) throws -> Void) rethrows {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { close(ends[1]) }
        try body(ends[0], ends[1])
    }

    @Test func lineGoesToAPipe() {
        withPipe { reader, writer in
            defer { close(reader) }
            #expect(StandardError.write(line: "eins\nzwei", to: writer))
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = read(reader, &buffer, buffer.count)
            #expect(String(decoding: buffer[..<max(0, count)], as: UTF8.self) == "eins zwei\n")
        }
    }

    @Test func longLineIsCutBetweenCharacters() {
        withPipe { reader, writer in
            defer { close(reader) }
            for shift in 0..<4 {
                #expect(
                    StandardError.write(
                        line: String(repeating: "a", count: shift) + String(repeating: "€", count: 4_000), to: writer))
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = max(0, read(reader, &buffer, buffer.count))
                #expect(count <= 512)
                #expect(String(validating: buffer[..<count], as: UTF8.self) != nil)
            }
        }
    }

    @Test func pipeWithoutAReaderDoesNotEndTheProcess() {
        withPipe { reader, writer in
            close(reader)
            #expect(!StandardError.write(line: "nobody reads", to: writer))
        }
    }

    @Test func fullPipeIsNotWaitedFor() {
        withPipe { reader, writer in
            defer { close(reader) }
            var lines = 0
            while StandardError.write(line: String(repeating: "x", count: 400), to: writer) { lines += 1 }
            #expect(lines > 0)
        }
    }

    @Test func closedDescriptorIsLeftAlone() {
        #expect(!StandardError.write(line: "closed", to: 1_000_000))
    }

    /// A file of the program's own that was opened while standard error was closed has its number.
    @Test func fileThatIsOpenForReadingTooIsNotWrittenTo() throws {
        let folder = TemporaryPlace()
        let path = folder.url.path + ".txt"
        defer { unlink(path) }
        let data = open(path, O_RDWR | O_CREAT, 0o600)
        #expect(!StandardError.write(line: "over the data", to: data))
        #expect(lseek(data, 0, SEEK_END) == 0)
        close(data)
        let redirection = open(path, O_WRONLY | O_APPEND)
        #expect(StandardError.write(line: "a log", to: redirection))
        #expect(lseek(redirection, 0, SEEK_END) == 6)
        close(redirection)
    }
}
