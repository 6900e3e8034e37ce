// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Something that went wrong where nobody could catch it, such as a look-up of a resolver's that failed.
public struct Diagnostic: Sendable, CustomStringConvertible {
    /// What kind of message it is. New codes may come with new versions.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name, as in `longReader`.
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name.
        public var description: String { rawValue }

        /// A resolver could not read its objects, or could not begin.
        public static let resolverFailed = Code(rawValue: "resolverFailed")
        /// Other processes' commits could not be read; they are looked for again.
        public static let pollFailed = Code(rawValue: "pollFailed")
        /// A read transaction has been open for long, so that the file cannot use its old pages again. In debug builds.
        public static let longReader = Code(rawValue: "longReader")
        /// Mapping closures have taken all of their threads and do not return: see `FetchDescriptor.makeObserver`.
        public static let mapsBlocked = Code(rawValue: "mapsBlocked")
    }

    /// What kind of message it is.
    public let code: Code
    /// What went wrong and how to mend it, in one line.
    public let message: String
    /// What it is about, as far as it is known.
    public let place: StoreError.Place

    /// The message and the code's name, in one line.
    public var description: String { "Roost: \(message) [\(code)]" }
}

/// Where messages go that no caller can catch.
///
/// ```swift
/// Diagnostics.setHandler { diagnostic in logger.warning("\(diagnostic)") }
/// ```
///
/// Without a handler each is one line on the standard error stream, at most 20 in a second. A line is dropped when the
/// stream is closed, cannot take it at once, or is a file open for reading as well: then the program has opened a file of
/// its own under that number.
public enum Diagnostics {
    // Mutable state: `state` (mutex): the handler and what is waiting for it; the window in which lines are counted.

    /// Gets each message, on a thread of Roost's own, one at a time, in order. While it does not return at most 1,000 wait;
    /// what comes then is dropped, and counted in the next message. Applies to the whole process, at once; nil brings back
    /// the lines on the standard error stream. Never throws.
    public static func setHandler(_ handler: (@Sendable (Diagnostic) -> Void)?) {
        let before = state.withLock { state in
            defer { state.handler = handler }
            return state.handler
        }
        // What it holds goes away outside the lock: that may report something as well.
        withExtendedLifetime(before) {}
    }

    private struct State {
        var handler: (@Sendable (Diagnostic) -> Void)?
        var waiting = 0
        var dropped = 0
        var second: UInt64 = 0
        var linesInSecond = 0
    }

    static let waitingLimit = 1_000
    static let linesPerSecond = 20

    private static let state = Mutex(State())
    private static let thread = SerialThread(name: "roost.diagnostics")

    static func report(_ code: Diagnostic.Code, _ message: String, entity: String? = nil, path: String? = nil) {
        let place = StoreError.Place(entity: entity, id: nil, field: nil, path: path)
        let now = DispatchTime.now().uptimeNanoseconds / 1_000_000_000
        enum Way {
            case handler(@Sendable (Diagnostic) -> Void)
            case line
            case dropped
        }
        let (way, dropped) = state.withLock { state -> (Way, Int) in
            func take() -> Int {
                defer { state.dropped = 0 }
                return state.dropped
            }
            if let handler = state.handler {
                guard state.waiting < waitingLimit else {
                    state.dropped += 1
                    return (.dropped, 0)
                }
                state.waiting += 1
                return (.handler(handler), take())
            }
            if state.second != now { (state.second, state.linesInSecond) = (now, 0) }
            guard state.linesInSecond < linesPerSecond else {
                state.dropped += 1
                return (.dropped, 0)
            }
            state.linesInSecond += 1
            return (.line, take())
        }
        let text = dropped == 0 ? message : "\(message) (\(dropped) messages before it were dropped)"
        let diagnostic = Diagnostic(code: code, message: text, place: place)
        switch way {
        case .handler(let handler):
            thread.async {
                handler(diagnostic)
                state.withLock { $0.waiting -= 1 }
            }
        case .line: StandardError.write(line: diagnostic.description)
        case .dropped: break
        }
    }
}
