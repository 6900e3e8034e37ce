// SPDX-License-Identifier: Apache-2.0

import RoostTestSupport
import Testing

@testable import Roost

/// A file, this process's writer, another process's writer and the poll, as far as the tracker can tell them.
private struct World: Hashable {
    enum Own: Hashable { case idle, begun(UInt64), numberShown(UInt64), committed(UInt64, Int), failed }
    enum Poll: Hashable { case idle, worthReading, read(UInt64, Int) }

    /// Whether each commit is this process's.
    var file: [Bool] = []
    /// The newest snapshot's number, as LMDB shows it, and the one that a read begins with.
    var newest = 1
    var readable = 1
    var own = Own.idle
    /// Another process's commit, whose number shows before it can be read.
    var isForeignShown = false
    var poll = Poll.idle
    var tracker = CommitTracker(sequence: 0)
    var published: [Bool] = []

    var isWriterFree: Bool {
        if isForeignShown { return false }
        switch own {
        case .begun, .numberShown: return false
        default: return true
        }
    }

    private mutating func publish(_ action: CommitTracker.Action) {
        if let foreign = action.foreign { for sequence in foreign { check(sequence, isOwn: false) } }
        if let sequence = action.own { check(sequence, isOwn: true) }
        if let later = action.later { for sequence in later { check(sequence, isOwn: false) } }
    }

    /// In order, once, when it is complete, and as whose it is.
    private mutating func check(_ sequence: UInt64, isOwn: Bool) {
        #expect(sequence == UInt64(published.count) + 1)
        #expect(sequence <= UInt64(file.count) && file[min(Int(sequence), file.count) - 1] == isOwn)
        published.append(isOwn)
    }

    /// Every world that one event leads to.
    func successors(commits: Int) -> [World] {
        var result: [World] = []
        func add(_ change: (inout World) -> Void) {
            var world = self
            change(&world)
            result.append(world)
        }
        let mayCommit = file.count < commits
        switch own {
        case .idle:
            if isWriterFree {
                if mayCommit {
                    add {
                        let sequence = UInt64($0.file.count) + 1
                        $0.own = .begun(sequence)
                        $0.publish($0.tracker.ownCommitBegins(sequence))
                    }
                }
                // It changes nothing, and leaves its number to the next one.
                add { $0.publish($0.tracker.ownWriteEndsWithoutCommit()) }
                // It changes a counter alone, which is no commit but a snapshot.
                if newest < commits + 4 {
                    add {
                        $0.newest += 1
                        $0.readable = $0.newest
                        $0.publish($0.tracker.ownWriteEndsWithoutCommit())
                    }
                }
            }
        case .begun(let sequence):
            add {
                $0.newest = $0.readable + 1
                $0.own = .numberShown(sequence)
            }
            add { $0.own = .failed }
        case .numberShown(let sequence):
            add {
                $0.file.append(true)
                $0.readable = $0.newest
                $0.own = .committed(sequence, $0.newest)
            }
        case .committed(let sequence, let snapshot):
            add {
                $0.own = .idle
                $0.publish($0.tracker.ownCommitCompleted(sequence, inSnapshot: snapshot))
            }
        case .failed:
            add {
                $0.own = .idle
                $0.publish($0.tracker.ownWriteEndsWithoutCommit())
            }
        }
        if isForeignShown {
            add {
                $0.isForeignShown = false
                $0.file.append(false)
                $0.readable = $0.newest
            }
        } else if isWriterFree && mayCommit {
            add {
                $0.isForeignShown = true
                $0.newest = $0.readable + 1
            }
        }
        switch poll {
        case .idle:
            if tracker.isWorthReading(newestSnapshot: newest) { add { $0.poll = .worthReading } }
        case .worthReading:
            add { $0.poll = .read(UInt64($0.file.count), $0.readable) }
        case .read(let sequence, let snapshot):
            add {
                $0.poll = .idle
                $0.publish($0.tracker.read(sequence, inSnapshot: snapshot))
            }
        }
        return result
    }

    /// Everything that is under way ends, and the poll looks once more.
    func settled() -> World {
        var world = self
        func finishOwn() {
            while world.own != .idle {
                let next = world.successors(commits: 0)
                guard let first = next.first else { return }
                world = first
            }
        }
        finishOwn()
        if world.isForeignShown {
            world.isForeignShown = false
            world.file.append(false)
            world.readable = world.newest
        }
        for _ in 0..<2 {
            if case .read(let sequence, let snapshot) = world.poll {
                world.publish(world.tracker.read(sequence, inSnapshot: snapshot))
            }
            world.poll = .idle
            if world.tracker.isWorthReading(newestSnapshot: world.newest) {
                world.poll = .read(UInt64(world.file.count), world.readable)
            }
        }
        return world
    }
}

struct CommitTrackerTests {
    /// Every order of events there is, of both processes and the poll: from each state everything is published in the end,
    /// in order, once, as whose it is, and nothing before it is complete.
    @Test func noInterleavingLosesACommitOrTellsItTwice() {
        let commits = repetitions(2, thorough: 3)
        var seen: Set<World> = [World()]
        var waiting: [World] = [World()]
        while let world = waiting.popLast() {
            let settled = world.settled()
            #expect(settled.published == settled.file, "\(world)")
            for next in world.successors(commits: commits) where seen.insert(next).inserted { waiting.append(next) }
        }
        #expect(seen.count > 1_000)

    }

    /// A write that changed nothing used to mark another process's commit as seen, whose number was the same.
    @Test func commitAfterAWriteThatChangedNothingIsPublished() {
        var tracker = CommitTracker(sequence: 7)
        #expect(tracker.read(7, inSnapshot: 20) == .init())
        #expect(tracker.ownWriteEndsWithoutCommit() == .init())
        #expect(tracker.isWorthReading(newestSnapshot: 21))
        #expect(tracker.read(8, inSnapshot: 21) == .init(foreign: 8...8))
        #expect(!tracker.isWorthReading(newestSnapshot: 21))
    }

    /// A commit that the poll read while the one before it was being made here used to be lost.
    @Test func commitReadWhileTheOneBeforeIsInFlightIsPublishedAfterIt() {
        var tracker = CommitTracker(sequence: 7)
        #expect(tracker.ownCommitBegins(8) == .init())
        #expect(tracker.read(9, inSnapshot: 21) == .init())
        #expect(tracker.ownCommitCompleted(8, inSnapshot: 20) == .init(own: 8, later: 9...9))
    }

    /// The number shows before the commit can be read: it is read again.
    @Test func numberThatCannotBeReadYetIsLookedAtAgain() {
        var tracker = CommitTracker(sequence: 7)
        #expect(tracker.isWorthReading(newestSnapshot: 21))
        #expect(tracker.read(7, inSnapshot: 20) == .init())
        #expect(tracker.isWorthReading(newestSnapshot: 21))
        #expect(tracker.read(8, inSnapshot: 21) == .init(foreign: 8...8))
    }

    @Test func ownCommitIsNotReadAndTheNextOneOfOthersIs() {
        var tracker = CommitTracker(sequence: 7)
        #expect(tracker.ownCommitBegins(8) == .init())
        #expect(tracker.ownCommitCompleted(8, inSnapshot: 21) == .init(own: 8))
        #expect(!tracker.isWorthReading(newestSnapshot: 21))
        #expect(tracker.isWorthReading(newestSnapshot: 22))
        // Another one was read before this one's end was told.
        #expect(tracker.ownCommitBegins(9) == .init())
        #expect(tracker.read(10, inSnapshot: 23) == .init())
        #expect(tracker.ownCommitCompleted(9, inSnapshot: 22) == .init(own: 9, later: 10...10))
        #expect(!tracker.isWorthReading(newestSnapshot: 23))
    }

    @Test func sequenceOfAFailedCommitIsTheOthers() {
        var tracker = CommitTracker(sequence: 7)
        #expect(tracker.ownCommitBegins(8) == .init())
        #expect(tracker.read(8, inSnapshot: 21) == .init())
        #expect(tracker.ownWriteEndsWithoutCommit() == .init(foreign: 8...8))
        #expect(tracker.ownCommitBegins(10) == .init(foreign: 9...9))
        #expect(tracker.ownCommitCompleted(10, inSnapshot: 23) == .init(own: 10))
    }

    @Test func whatWasCommittedWhileNobodyFollowedIsSkippedButNotWhatIsInFlight() {
        var tracker = CommitTracker(sequence: 7)
        tracker.skip(to: 9)
        #expect(tracker.read(10, inSnapshot: 5) == .init(foreign: 10...10))
        #expect(tracker.ownCommitBegins(11) == .init())
        tracker.skip(to: 11)
        #expect(tracker.ownCommitCompleted(11, inSnapshot: 6) == .init(own: 11))
        tracker.skip(to: 3)
        #expect(tracker.published == 11)
    }

    @Test func absurdSequencesDoNotOverflow() {
        var tracker = CommitTracker(sequence: .max)
        #expect(tracker.ownCommitBegins(.max) == .init())
        #expect(tracker.ownCommitCompleted(.max, inSnapshot: .max) == .init(own: .max))
        var other = CommitTracker(sequence: 0)
        #expect(other.ownCommitBegins(0) == .init())
        #expect(other.ownCommitCompleted(0, inSnapshot: 0) == .init(own: 0))
        #expect(other.read(.max, inSnapshot: 1) == .init(foreign: 1 ... .max))
    }
}
