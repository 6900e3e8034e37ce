// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import RoostLMDB

// MARK: From LMDB

extension StoreError {
    /// Whatever the layers below threw, as a `StoreError`, or as a `CancellationError` where a read was cancelled; errors of
    /// the caller's own closures stay what they are. `condition` is asked for only where a message needs it.
    static func wrapping(_ error: any Error, condition: @autoclosure () -> StoreCondition?) -> any Error {
        switch error {
        case let error as Environment.UseError:
            switch error {
            case .closed: storeClosed
            case .nestedWrite: nestedWrite
            case .full(let shortage): StoreError(shortage, condition: condition())
            case .lmdb(let error): wrapping(error, condition: condition())
            }
        case let error as LMDBError:
            error.isCancellation ? CancellationError() : StoreError(error, condition: condition())
        default: error
        }
    }

    init(_ error: LMDBError, condition: StoreCondition?) {
        let path = condition?.path
        let call = "\(error.operation): \(error.message)"
        if error.isMapFull {
            let message = Self.storeFullMessage(condition) {
                guard let space = condition?.space() else { return "its map is used up" }
                // All that the map had left was taken, and one page more was asked for.
                return
                    "\(space.used) of at most \(space.limit) bytes are in use, and for the pages that it changes the "
                    + "transaction needed more than \(space.left) bytes of new ones"
            }
            self.init(.storeFull, message, cause: error.code, path: path)
        } else if error.isTransactionFull {
            self.init(
                .transactionTooLarge,
                "The transaction changes more pages than LMDB can hold at once (about 512 MiB): write in batches.",
                cause: error.code, path: path)
        } else if error.isReadersFull {
            self.init(
                .system, "All reader slots of the lock file are taken by other processes (\(call)).", cause: error.code,
                path: path)
        } else if error.isMapResized {
            self.init(
                .storeBusy,
                "Another process has let the file grow beyond this one's map, which cannot be made anew inside a read, nor "
                    + "while reads or writes of this process do not end: end them and try again.",
                cause: error.code, path: path)
        } else if error.isInvalidFile {
            self.init(.damaged, "The store's file is damaged (\(call)).", cause: error.code, path: path)
        } else {
            self.init(systemError: error.code, doing: call, path: path)
        }
    }

    init(_ shortage: Environment.Shortage, condition: StoreCondition?) {
        let message = Self.storeFullMessage(condition) {
            "\(shortage.used) of at most \(shortage.limit) bytes are in use, and with the transaction it would be "
                + "\(shortage.needed)"
        }
        self.init(.storeFull, message, path: condition?.path)
    }

    private static func storeFullMessage(_ condition: StoreCondition?, _ what: () -> String) -> String {
        var message = "The store is full: " + what()
        if let reader = condition?.pinningReader() {
            message +=
                ", while a read of process \(reader.process) keeps the pages of \(reader.lag) commits from being used "
                + "again"
        }
        return message
            + ". Delete objects, few in a transaction and in one that stores none, or open it with a larger "
            + "Store.Options.maximumSize."
    }

    init(_ error: Environment.OpenError, path: String) {
        switch error {
        case .lmdb(let error):
            self.init(error, condition: nil)
        case .system(let code, let path):
            self.init(systemError: code, doing: "open: \(SystemCode.describe(code))", path: path)
        case .optionsDiffer(let open, let wanted):
            self.init(
                .alreadyOpen,
                "\(path) is open in this process with other options: \(Self.differences(open, wanted)). Open it with the "
                    + "same ones.",
                path: path)
        case .linked:
            self.init(
                .alreadyOpen,
                "The data file of \(path) has a second name (a hard or symbolic link), which would not share its lock: "
                    + "remove it.",
                path: path)
        case .noParent(let path):
            self.init(
                .notFound, "The directory that is to hold \(path) does not exist: create it first.", cause: ENOENT,
                path: path)
        case .lockFileLinked(let file):
            self.init(
                .alreadyOpen,
                "\(file) has a second name or is no file of its own (a link, a directory): it would be written over. "
                    + "Remove it.",
                path: file)
        case .lockFileRemoved:
            self.init(
                .alreadyOpen,
                "Another process has \(path) open, and its lock.mdb was removed: with a new one both would write. End that "
                    + "process first.",
                path: path)
        case .inUse:
            self.init(
                .alreadyOpen, "Another process has an exclusive lock on \(path): try again when it is done.",
                path: path)
        case .busy:
            self.init(
                .storeBusy,
                "\(path) is being opened or closed by another thread, and this one is inside a transaction of it.",
                path: path)
        case .noAddressSpace(let tried):
            self.init(
                .system,
                "The system grants no address space for the file's map (\(tried) bytes were asked for last): raise "
                    + "`ulimit -v`, or set Store.Options.maximumSize or ROOST_MAP_SIZE.",
                path: path)
        }
    }

    /// Which of `Store.Options` are not the same, with both values.
    private static func differences(_ open: Environment.Options, _ wanted: Environment.Options) -> String {
        var differences: [String] = []
        func compare<Value: Equatable>(
            _ name: String, _ option: KeyPath<Environment.Options, Value>, _ describe: (Value) -> String = { "\($0)" }
        ) {
            let (before, now) = (open[keyPath: option], wanted[keyPath: option])
            if before != now { differences.append("\(name) is \(describe(before)) there and \(describe(now)) here") }
        }
        compare("durability", \.durability) { ".\($0)" }
        compare("maximumSize", \.maximumSize) { $0.map { "\($0)" } ?? "nil" }
        compare("isReadOnly", \.isReadOnly)
        compare("readerLimit", \.readerLimit)
        return differences.joined(separator: ", ")
    }

    init(_ finding: FileProbe.Finding, path: String) {
        switch finding {
        case .unreadable(let code):
            self.init(systemError: code, doing: "read: \(SystemCode.describe(code))", path: path)
        case .notLMDB:
            self.init(
                .notAStore, "\(path) is not a Roost store: its data file is empty or of another kind.", path: path)
        case .otherVersion(let version):
            self.init(
                .newerFormat, "\(path) was written by another version of LMDB (data version \(version)).", path: path)
        case .damaged(let what):
            self.init(.damaged, "The data file of \(path) is damaged: \(what).", path: path)
        }
    }

    init(systemError code: Int32, doing what: String, path: String?) {
        let place = path.map { " at \($0)" } ?? ""
        switch code {
        case SystemCode.noSpace:
            self.init(
                .diskFull, "The disk is full\(place); nothing of the transaction happened (\(what)).", cause: code,
                path: path)
        case SystemCode.noAccess, SystemCode.notPermitted, SystemCode.readOnlyFileSystem:
            self.init(
                .permissionDenied,
                "Not permitted\(place) (\(what)): the directory and its files must be readable and writable.",
                cause: code, path: path)
        case SystemCode.noEntry:
            self.init(.notFound, "There is no store\(place).", cause: code, path: path)
        default:
            self.init(.system, "The system refused\(place): \(what).", cause: code, path: path)
        }
    }
}
