// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// Commits of another process, which nobody announces to this one.
struct OtherProcessTests {
    let place = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: place.url, entities: Storage.Note.self)
    }

    private func writer(_ role: String = "add") throws -> HelperProcess {
        let process = try HelperProcess([role, place.url.path])
        #expect(process.line() == "ready")
        return process
    }

    @Test func observerSeesThem() async throws {
        let other = try writer()
        var values = FetchDescriptor<Storage.Note>().makeObserver { $0.map(\.text) }.values(store).makeAsyncIterator()
        #expect(try await values.next() == [])
        other.send("first")
        #expect(try await values.next() == ["first"])
        #expect(other.line() == "done")
        other.send("second")
        #expect(try await values.next() == ["first", "second"])
        #expect(other.finish() == 0)
    }

    @Test func resolverSeesThem() async throws {
        let other = try writer()
        let resolver = try store.resolver(for: Storage.Note.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve([1])
        #expect(await values.next()?.isEmpty == true)
        other.send("first")
        #expect(await values.next()?.map(\.text) == ["first"])
        #expect(other.finish() == 0)
    }

    /// What the other process committed before a commit of this one is published before it.
    @Test func theyArePublishedInOrderWithThoseOfThisProcess() async throws {
        let other = try writer()
        var commits = store.commits().makeAsyncIterator()
        other.send("theirs")
        #expect(other.line() == "done")
        try await store.write { tx in try tx.insert(Storage.Note(id: 50, text: "ours")) }
        let first = try #require(await commits.next())
        #expect(first.origin == .otherProcess && first.sequence == 1)
        let theirs = try #require(try first.changes(of: Storage.Note.self))
        #expect(theirs.isComplete && theirs.inserted == [1] && theirs.updated == [] && theirs.deleted == [])
        let second = try #require(await commits.next())
        #expect(second.origin == .thisProcess && second.sequence == 2)
        #expect(try second.changes(of: Storage.Note.self)?.inserted == [50])
        #expect(other.finish() == 0)
    }

    /// Another process's commit was once told as one that may have changed anything.
    @Test func aCommitOfTheirsThatDoesNotConcernAFetchReadsNothing() async throws {
        let other = try writer()
        let request = FetchDescriptor<Storage.Note>(predicate: #Predicate { $0.text == "wanted" })
        var values = request.makeObserver { $0.map(\.id) }.values(store).makeAsyncIterator()
        #expect(try await values.next() == [])
        var commits = store.commits().makeAsyncIterator()
        other.send("something else")
        #expect(await commits.next()?.sequence == 1)
        store.engine.bus.drain()
        let before = store.engine.environment.readTotals.reads
        other.send("wanted")
        #expect(try await values.next() == [2])
        // The fetch, and what the bus reads of each commit: its number, and what it changed.
        #expect(await commits.next()?.sequence == 2)
        #expect(store.engine.environment.readTotals.reads - before <= 3)
        #expect(other.finish() == 0)
    }

    #if os(Linux) || canImport(Darwin)
        /// What looks in case a notice is lost does so every second; here it waits for an hour.
        @Test func theyAreNoticedByTheSystemsEventsAlone() throws {
            final class Recorder: CommitSubscriber {
                let wantsImages = false
                let last = Mutex<(sequence: UInt64, time: UInt64)>((0, 0))
                let arrived = DispatchSemaphore(value: 0)
                func receive(_ commit: CommitRecord) {
                    last.withLock { $0 = (commit.sequences.upperBound, MonotonicCondition.now) }
                    arrived.signal()
                }
            }
            let other = try writer("addTimed")
            let hour: UInt64 = 3_600_000_000_000
            let bus = Bus(
                sequence: 0,
                source: Engine.commits(
                    of: store.engine.environment, store.engine.main,
                    CommittedChanges(history: store.engine.history, origin: store.engine.origin) { _ in nil }),
                intervals: .init(whileTold: hour, untold: hour))
            let recorder = Recorder()
            bus.subscribe(recorder)
            var delays: [UInt64] = []
            for sequence in UInt64(1)...UInt64(repetitions(50, thorough: 2_000)) {
                other.send("n")
                recorder.arrived.wait()
                let told = recorder.last.withLock { $0 }
                #expect(told.sequence == sequence)
                let made = try #require(other.line().flatMap { UInt64($0) })
                delays.append(told.time - min(made, told.time))
            }
            delays.sort()
            let (median, late) = (delays[delays.count / 2], delays[delays.count * 99 / 100])
            print("another process's commit is told after \(median / 1_000) µs (p50), \(late / 1_000) µs (p99)")
            #expect(bus.pollInterval == hour)
            bus.unsubscribe(recorder)
            #expect(other.finish() == 0)
        }

        @Test func aStoreThatIsObservedWakesOnceASecond() async throws {
            #expect(store.engine.bus.pollInterval == nil)
            var commits = Optional(store.commits().makeAsyncIterator())
            #expect(store.engine.bus.pollInterval == 1_000_000_000)
            withExtendedLifetime(commits) {}
            commits = nil
            #expect(store.engine.bus.pollInterval == nil)
        }
    #endif
}
