// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import RoostTestSupport
import Testing

@testable import Roost

#if os(Linux) || canImport(Darwin)
    struct FileEventsTests {
        private let events = FileEvents()

        private func withFile(_ body: (_ path: String, _ descriptor: Int32) async throws -> Void) async throws {
            try await withTemporaryFolder { folder in
                let path = folder + "/file"
                let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
                try #require(descriptor >= 0)
                defer { close(descriptor) }
                try await body(path, descriptor)
            }
        }

        private func write(_ descriptor: Int32) {
            #expect(pwrite(descriptor, "x", 1, 0) == 1)
        }

        private func watch(_ descriptor: Int32, _ written: DispatchSemaphore) throws -> FileEvents.Watch {
            try #require(events.watch(descriptor) { written.signal() })
        }

        @Test func writesAreToldToThoseWhoWatchTheFile() async throws {
            try await withFile { _, first in
                try await withFile { _, second in
                    let (ofFirst, alsoOfFirst) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                    let ofSecond = DispatchSemaphore(value: 0)
                    let watches = [
                        try watch(first, ofFirst), try watch(first, alsoOfFirst), try watch(second, ofSecond),
                    ]
                    write(first)
                    ofFirst.wait()
                    alsoOfFirst.wait()
                    write(second)
                    ofSecond.wait()
                    #expect(ofFirst.wait(timeout: .now()) == .timedOut)
                    withExtendedLifetime(watches) {}
                }
            }
        }

        @Test func whatIsWatchedIsTheOpenFileWhateverItsNameLeadsTo() async throws {
            try await withFile { path, descriptor in
                let written = DispatchSemaphore(value: 0)
                #expect(rename(path, path + ".old") == 0)
                let other = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
                defer { close(other) }
                let watch = try watch(descriptor, written)
                write(descriptor)
                written.wait()
                #expect(unlink(path + ".old") == 0)
                write(descriptor)
                written.wait()
                withExtendedLifetime(watch) {}
            }
        }

        @Test func nothingIsLeftWhenNobodyWatches() async throws {
            try await withFile { _, descriptor in
                for _ in 0..<3 {
                    let written = DispatchSemaphore(value: 0)
                    var watches = try (0..<2).map { _ in try watch(descriptor, written) }
                    #expect(events.isRunning)
                    watches.removeFirst()
                    write(descriptor)
                    written.wait()
                    watches = []
                    while events.isRunning { await Task.yield() }
                }
            }
        }

        @Test func fileThatIsWrittenWithoutAPauseIsToldOfAThousandTimesASecondAtMost() async throws {
            try await withFile { _, descriptor in
                let told = Counter()
                let start = MonotonicCondition.now
                let watch = try #require(events.watch(descriptor) { told.increment() })
                while told.value < 20 { write(descriptor) }
                let milliseconds = (MonotonicCondition.now - start) / 1_000_000
                #expect(told.value <= Int(milliseconds) + 2)
                withExtendedLifetime(watch) {}
            }
        }

        @Test func descriptorThatIsClosedIsNotWatched() {
            #expect(events.watch(-1) {} == nil)
            #expect(!events.isRunning)
        }
    }
#endif
