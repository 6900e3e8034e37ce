// SPDX-License-Identifier: Apache-2.0

import Dispatch
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

struct BusTests {
    /// A file of another process's, and what is read of it.
    private final class File: Sendable {
        /// How many commits there are, LMDB's number, and how many times they were read.
        let state = Mutex((sequence: UInt64(0), snapshot: 1, reads: 0))
        let whenRead = Mutex<(@Sendable () -> Void)?>(nil)
        /// Whom the system tells of writes; in `isWatchable` files only.
        private let watcher = Mutex<(@Sendable () -> Void)?>(nil)
        private let isWatchable: Bool
        private let intervals: PollSchedule.Intervals

        init(isWatchable: Bool = false, intervals: PollSchedule.Intervals = .init()) {
            self.isWatchable = isWatchable
            self.intervals = intervals
        }

        var bus: Bus {
            Bus(
                sequence: 0,
                source: Bus.Source(
                    newestSnapshot: { self.state.withLock { $0.snapshot } },
                    lastCommit: {
                        let hook = self.whenRead.withLock { hook in
                            defer { hook = nil }
                            return hook
                        }
                        hook?()
                        return self.state.withLock { state in
                            state.reads += 1
                            return (state.sequence, state.snapshot)
                        }
                    },
                    watch: { written in
                        guard self.isWatchable else { return nil }
                        self.watcher.withLock { $0 = written }
                        return Watch { self.watcher.withLock { $0 = nil } }
                    }),
                intervals: intervals)
        }

        private final class Watch: Sendable {
            let end: @Sendable () -> Void
            init(_ end: @escaping @Sendable () -> Void) { self.end = end }
            deinit { end() }
        }

        var isWatched: Bool { watcher.withLock { $0 != nil } }
        var reads: Int { state.withLock { $0.reads } }

        func commit() {
            state.withLock { state in
                state.sequence += 1
                state.snapshot += 1
            }
        }

        /// What the system does after a write.
        func tell() { watcher.withLock { $0 }?() }
    }

    private final class Recorder: CommitSubscriber {
        let wantsImages: Bool
        let commits = Mutex<[CommitRecord]>([])
        let arrived = DispatchSemaphore(value: 0)
        /// Holds up the bus while it is 0.
        let gate: DispatchSemaphore?

        init(wantsImages: Bool = false, gate: DispatchSemaphore? = nil) {
            self.wantsImages = wantsImages
            self.gate = gate
        }

        func receive(_ commit: CommitRecord) {
            commits.withLock { $0.append(commit) }
            arrived.signal()
            if let gate {
                gate.wait()
                gate.signal()
            }
        }

        var sequences: [ClosedRange<UInt64>] { commits.withLock { $0.map(\.sequences) } }
    }

    private func commit(_ sequence: UInt64, imageBytes: Int = 100) -> CommitRecord {
        let row = EntityChanges.Row(
            key: withUnsafeBytes(of: sequence.bigEndian) { Array($0) }, kind: .inserted, fields: .none)
        let images = RowImages(new: [UInt8](repeating: 1, count: imageBytes), ranges: [(nil, 0..<imageBytes)])
        let changes = EntityChanges(entity: 1, name: "a", rows: [row], images: images)
        return CommitRecord(sequences: sequence...sequence, isForeign: false, changes: [changes])
    }

    private func publish(_ sequences: ClosedRange<UInt64>, _ bus: Bus, imageBytes: Int = 100) {
        for sequence in sequences {
            bus.ownCommitBegins(sequence)
            bus.ownCommitCompleted(commit(sequence, imageBytes: imageBytes), inSnapshot: 1)
        }
    }

    /// 255 blocks that never returned used to stop the bus, which ran on the same threads.
    @Test func subscribersAreCalledOnTheBusesOwnThread() {
        final class Witness: CommitSubscriber {
            let bus: Bus
            let wantsImages = false
            let calls = Mutex<[Bool]>([])
            init(_ bus: Bus) { self.bus = bus }
            func receive(_ commit: CommitRecord) { calls.withLock { $0.append(bus.thread.isCurrent) } }
        }
        let bus = File().bus
        let witness = Witness(bus)
        bus.subscribe(witness)
        publish(1...10, bus)
        bus.drain()
        #expect(witness.calls.withLock { $0 } == [Bool](repeating: true, count: 10))
        bus.unsubscribe(witness)
    }

    /// What waited used to be kept with all of its records, one by one: 779 MiB, and 77 s behind.
    @Test func whatWaitsForASlowSubscriberIsBoundedAndTheWriterGoesOn() {
        let bus = File().bus
        let gate = DispatchSemaphore(value: 0)
        let slow = Recorder(wantsImages: true, gate: gate)
        bus.subscribe(slow)
        publish(1...1, bus)
        slow.arrived.wait()
        // 1.2 GB of records.
        publish(2...1_200, bus, imageBytes: 1 << 20)
        let pending = bus.pendingBytes
        #expect(pending.images <= 64 << 20 && pending.images > 60 << 20 && pending.rows < 1 << 20)
        gate.signal()
        bus.drain()
        let commits = slow.commits.withLock { $0 }
        #expect(commits.map(\.sequences).first == 1...1 && commits.last?.sequences == 1_200...1_200)
        #expect(commits.count == PendingCommits.commitLimit + 2)
        #expect(commits[1].sequences == 2...200 && commits[1].imageBytes == 0)
        #expect(commits[1].changes?.first?.rows.count == 199)
        #expect(commits.last?.imageBytes ?? 0 > 1 << 20)
        #expect(bus.pendingBytes == (0, 0))
        bus.unsubscribe(slow)
    }

    @Test func recordsReachThoseOnlyWhoWantThem() {
        let bus = File().bus
        let (with, without) = (Recorder(wantsImages: true), Recorder())
        bus.subscribe(with)
        bus.subscribe(without)
        publish(1...3, bus)
        bus.drain()
        #expect(with.commits.withLock { $0.allSatisfy { $0.imageBytes > 0 } })
        #expect(without.commits.withLock { $0.allSatisfy { $0.imageBytes == 0 } })
        #expect(without.sequences == (1...3).map { $0...$0 })
        #expect(bus.wantsImages)
        bus.unsubscribe(with)
        #expect(!bus.wantsImages)
        bus.unsubscribe(without)
    }

    @Test func othersCommitsAreFoundAndNothingIsReadWithoutOne() {
        let file = File()
        let bus = file.bus
        file.commit()
        let recorder = Recorder()
        bus.subscribe(recorder)
        file.commit()
        recorder.arrived.wait()
        // The one before the subscription is no news.
        #expect(recorder.sequences == [2...2])
        // One read for the subscription, at most one that found nothing, one for the commit.
        let reads = file.state.withLock { $0.reads }
        #expect(reads <= 3)
        let ticks = DispatchSemaphore(value: 0)
        for _ in 0..<3 {
            file.commit()
            recorder.arrived.wait()
            ticks.signal()
        }
        #expect(file.state.withLock { $0.reads } == reads + 3)
        bus.unsubscribe(recorder)
    }

    /// Somebody else subscribes, and a commit is made, while the first one is reading what is no news.
    @Test func subscriberThatWasFasterMissesNothing() {
        let file = File()
        let bus = file.bus
        let (first, faster) = (Recorder(), Recorder())
        file.whenRead.withLock { hook in
            hook = {
                bus.subscribe(faster)
                file.commit()
            }
        }
        bus.subscribe(first)
        faster.arrived.wait()
        #expect(faster.sequences == [1...1])
        bus.unsubscribe(first)
        bus.unsubscribe(faster)
    }

    // MARK: Told of writes by the system

    /// Nothing is looked for but when the system tells of a write.
    private static let hour = PollSchedule.Intervals(whileTold: 3_600_000_000_000, untold: 3_600_000_000_000)

    /// Waits until the bus has done what it was told to: what it found is delivered in a turn of its own.
    private func settle(_ bus: Bus) {
        bus.thread.sync {}
        bus.drain()
    }

    @Test func commitIsFoundWhenTheSystemTellsOfTheWrite() {
        let file = File(isWatchable: true, intervals: Self.hour)
        let bus = file.bus
        let recorder = Recorder()
        bus.subscribe(recorder)
        #expect(file.isWatched)
        for _ in 1...3 {
            file.commit()
            file.tell()
            recorder.arrived.wait()
        }
        #expect(recorder.sequences.last?.upperBound == 3)
        bus.unsubscribe(recorder)
        #expect(!file.isWatched && bus.pollInterval == nil)
        // And again for the next one.
        bus.subscribe(recorder)
        file.commit()
        file.tell()
        recorder.arrived.wait()
        bus.unsubscribe(recorder)
    }

    /// Made after the last commit was read, and before the system was asked to tell.
    @Test func commitBeforeTheFileIsWatchedIsFoundWithoutANotice() {
        let file = File(isWatchable: true, intervals: Self.hour)
        let bus = file.bus
        let recorder = Recorder()
        file.whenRead.withLock { hook in hook = { file.whenRead.withLock { $0 = { file.commit() } } } }
        bus.subscribe(recorder)
        recorder.arrived.wait()
        #expect(recorder.sequences == [1...1])
        bus.unsubscribe(recorder)
    }

    @Test func commitIsFoundWhereItIsLookedForAtOnce() async {
        let file = File(isWatchable: false, intervals: Self.hour)
        let bus = file.bus
        let recorder = Recorder()
        bus.subscribe(recorder)
        await bus.lookNow()
        file.commit()
        await bus.lookNow()
        #expect(recorder.sequences == [1...1])
        bus.unsubscribe(recorder)
    }

    @Test func noticeOfAnOwnCommitReadsNothing() {
        let file = File(isWatchable: true, intervals: Self.hour)
        let bus = file.bus
        let recorder = Recorder()
        bus.subscribe(recorder)
        settle(bus)
        let reads = file.reads
        for sequence in UInt64(1)...100 {
            bus.ownCommitBegins(sequence)
            file.commit()
            bus.ownCommitCompleted(commit(sequence), inSnapshot: Int(sequence) + 1)
            file.tell()
        }
        settle(bus)
        #expect(recorder.sequences.count == 100)
        #expect(file.reads == reads)
        bus.unsubscribe(recorder)
    }

    @Test func noticesWhileASubscriberHoldsUpTheBusAreOneLook() {
        let file = File(isWatchable: true, intervals: Self.hour)
        let bus = file.bus
        let gate = DispatchSemaphore(value: 0)
        let slow = Recorder(gate: gate)
        bus.subscribe(slow)
        settle(bus)
        file.commit()
        file.tell()
        slow.arrived.wait()
        let reads = file.reads
        for _ in 0..<1_000 {
            file.commit()
            file.tell()
        }
        gate.signal()
        settle(bus)
        bus.drain()
        #expect(slow.sequences == [1...1, 2...1_001])
        #expect(file.reads == reads + 1)
        bus.unsubscribe(slow)
    }

    /// LMDB shows a commit's number before the commit can be read, and nothing is written in between.
    @Test func commitWhoseNumberShowsBeforeItCanBeReadIsLookedForAgain() {
        let file = File(isWatchable: true, intervals: Self.hour)
        let bus = Bus(
            sequence: 0,
            source: Bus.Source(
                newestSnapshot: { 2 },
                lastCommit: {
                    file.state.withLock { state in
                        state.reads += 1
                        return state.reads < 5 ? (0, 1) : (1, 2)
                    }
                },
                watch: { _ in file }),
            intervals: Self.hour)
        let recorder = Recorder()
        bus.subscribe(recorder)
        recorder.arrived.wait()
        #expect(recorder.sequences == [1...1])
        settle(bus)
        #expect(file.reads == 5)
        #expect(bus.pollInterval == Self.hour.whileTold)
        bus.unsubscribe(recorder)
    }

    /// A file system that raises no events, such as one on another machine.
    @Test func whereTheSystemTellsNothingItIsLookedForMoreOften() {
        let often = PollSchedule.Intervals(whileTold: 2_000_000, untold: 1_000_000)
        let file = File(isWatchable: true, intervals: often)
        let bus = file.bus
        let recorder = Recorder()
        bus.subscribe(recorder)
        settle(bus)
        #expect(bus.pollInterval == often.whileTold)
        file.commit()
        recorder.arrived.wait()
        settle(bus)
        #expect(bus.pollInterval == often.untold)
        file.tell()
        #expect(bus.pollInterval == often.whileTold)
        bus.unsubscribe(recorder)
        let unwatchable = File()
        let other = unwatchable.bus
        other.subscribe(recorder)
        #expect(other.pollInterval == 50_000_000)
        other.unsubscribe(recorder)
    }

    @Test func drainingOnTheBusesThreadDoesNotWaitForItself() {
        final class Draining: CommitSubscriber {
            let bus: Bus
            let wantsImages = false
            init(_ bus: Bus) { self.bus = bus }
            func receive(_ commit: CommitRecord) { bus.drain() }
        }
        let bus = File().bus
        let draining = Draining(bus)
        bus.subscribe(draining)
        publish(1...3, bus)
        bus.drain()
        bus.unsubscribe(draining)
    }
}
