// SPDX-License-Identifier: Apache-2.0

internal import RoostLMDB

/// Everything that Roost itself throws. Errors thrown by a caller's own closures pass through as they are.
///
/// ```swift
/// do {
///     try await store.write { tx in try tx.insert(city) }
/// } catch let error as StoreError where error.code == .alreadyExists {
///     …
/// }
/// ```
public struct StoreError: Error, Sendable {
    /// What kind of failure it is. New codes may come with new versions.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is nothing at the path.
        public static let notFound = Code(rawValue: "notFound")
        /// What is at the path is not a store of Roost's.
        public static let notAStore = Code(rawValue: "notAStore")
        /// The store was written by a newer Roost, in a format that this one does not read.
        public static let newerFormat = Code(rawValue: "newerFormat")
        /// The file or a record holds bytes that cannot be.
        public static let damaged = Code(rawValue: "damaged")
        /// The file or directory may not be read or written.
        public static let permissionDenied = Code(rawValue: "permissionDenied")
        /// Any other error of the system.
        public static let system = Code(rawValue: "system")
        /// The store is open in this process with other options, or under another name of its file.
        public static let alreadyOpen = Code(rawValue: "alreadyOpen")
        /// The store has been closed.
        public static let storeClosed = Code(rawValue: "storeClosed")
        /// The store cannot be closed from inside one of its own transactions.
        public static let storeBusy = Code(rawValue: "storeBusy")
        /// The store was opened to be read only.
        public static let readOnly = Code(rawValue: "readOnly")
        /// An entity's declaration differs from the catalog's.
        public static let schemaMismatch = Code(rawValue: "schemaMismatch")
        /// The declaration of an entity contradicts itself.
        public static let invalidSchema = Code(rawValue: "invalidSchema")
        /// The store was not opened with this entity.
        public static let unknownEntity = Code(rawValue: "unknownEntity")
        /// The entity has no field of that name.
        public static let unknownField = Code(rawValue: "unknownField")
        /// A value that is not of the field's type.
        public static let invalidValue = Code(rawValue: "invalidValue")
        /// An object with this ID exists.
        public static let alreadyExists = Code(rawValue: "alreadyExists")
        /// No object has this ID.
        public static let objectNotFound = Code(rawValue: "objectNotFound")
        /// An update changed the object's `id`.
        public static let idChanged = Code(rawValue: "idChanged")
        /// The ID needs more bytes than a key may have.
        public static let idTooLong = Code(rawValue: "idTooLong")
        /// No ID is left to hand out.
        public static let idsExhausted = Code(rawValue: "idsExhausted")
        /// A predicate failed on an object: an overflow, a division by zero, a forced unwrap of nil.
        public static let predicateFailed = Code(rawValue: "predicateFailed")
        /// The store has reached its maximum size.
        public static let storeFull = Code(rawValue: "storeFull")
        /// The disk is full.
        public static let diskFull = Code(rawValue: "diskFull")
        /// One transaction changes more than LMDB can hold at once.
        public static let transactionTooLarge = Code(rawValue: "transactionTooLarge")
        /// A write inside a write, on one thread.
        public static let nestedWrite = Code(rawValue: "nestedWrite")
        /// The commit itself failed; nothing of the transaction happened.
        public static let commitFailed = Code(rawValue: "commitFailed")
    }

    /// What it is about, as far as it is known.
    public struct Place: Hashable, Sendable {
        /// The entity's name.
        public var entity: String?
        /// The object's ID, described.
        public var id: String?
        /// The field's name.
        public var field: String?
        /// The file or directory.
        public var path: String?
    }

    public let code: Code
    /// What went wrong and how to mend it, in one line.
    public let message: String
    /// LMDB's return code or the system's `errno`, where one was the cause.
    public let cause: Int32?
    public let place: Place

    init(
        _ code: Code, _ message: String, cause: Int32? = nil, entity: String? = nil, id: String? = nil,
        field: String? = nil, path: String? = nil
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        place = Place(entity: entity, id: id, field: field, path: path)
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String { "\(message) [\(code.rawValue)]" }
}

// MARK: Errors that several parts throw. Out of line: none is on a hot path.

extension StoreError {
    @usableFromInline
    @inline(never)
    static func unknownEntity(_ name: String) -> StoreError {
        StoreError(
            .unknownEntity, "The store was not opened with entity \(name): add \(name).self to Store.open(entities:).",
            entity: name)
    }

    @inline(never)
    static func idTooLong(_ id: String) -> StoreError {
        StoreError(
            .idTooLong,
            "The ID \(id.prefix(40).debugDescription)… is too long: an ID takes at most \(maximumIDKeyLength - 1) bytes.",
            id: id)
    }

    static var storeClosed: StoreError { StoreError(.storeClosed, "The store has been closed.") }

    static var nestedWrite: StoreError {
        StoreError(
            .nestedWrite, "A write was begun inside a write of the same store: use the transaction that is running.")
    }

    static var readOnly: StoreError { StoreError(.readOnly, "The store was opened read-only.") }
}

// MARK: From LMDB

extension StoreError {
    /// Whatever the layers below threw, as a `StoreError`; errors of the caller's own closures stay what they are.
    static func wrapping(_ error: any Error, engine: Engine?) -> any Error {
        switch error {
        case let error as Environment.UseError:
            switch error {
            case .closed: storeClosed
            case .nestedWrite: nestedWrite
            case .lmdb(let error): StoreError(error, engine: engine)
            }
        case let error as LMDBError: StoreError(error, engine: engine)
        default: error
        }
    }

    init(_ error: LMDBError, engine: Engine?) {
        let path = engine?.environment.directory
        let call = "\(error.operation): \(error.message)"
        if error.isMapFull {
            let sizes = engine?.environment.sizes
            var message = "The store is full: "
            message += sizes.map { "\($0.used) of at most \($0.map) bytes are in use" } ?? "its map is used up"
            if let oldest = engine?.environment.oldestReader, oldest.age > 1_000 {
                message += ", and a reader that began \(oldest.age) ms ago keeps old pages"
            }
            message += ". Delete objects, or open it with a larger Store.Options.maximumSize."
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
        } else if error.isInvalidFile {
            self.init(.damaged, "The store's file is damaged (\(call)).", cause: error.code, path: path)
        } else {
            self.init(systemError: error.code, doing: call, path: path)
        }
    }

    init(_ error: Environment.OpenError, path: String) {
        switch error {
        case .lmdb(let error):
            self.init(error, engine: nil)
        case .system(let code, let path):
            self.init(systemError: code, doing: "open: \(SystemCode.describe(code))", path: path)
        case .optionsDiffer:
            self.init(
                .alreadyOpen, "\(path) is open in this process with other options: open it with the same ones.",
                path: path)
        case .linked:
            self.init(
                .alreadyOpen,
                "The data file of \(path) has a second name (a hard or symbolic link), which would not share its lock: "
                    + "remove it.",
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
