// SPDX-License-Identifier: Apache-2.0

import Foundation

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
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The name, as in `alreadyExists`.
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The name.
        public var description: String { rawValue }

        /// There is nothing at the path.
        public static let notFound = Code(rawValue: "notFound")
        /// What is at the path is not a store of Roost's.
        public static let notAStore = Code(rawValue: "notAStore")
        /// The store was written by a newer Roost, in a format that this one does not read, or may only read.
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
        /// An object needs more bytes than a record may have: 2 GiB less 64 KiB.
        public static let valueTooLarge = Code(rawValue: "valueTooLarge")
        /// No ID is left to hand out.
        public static let idsExhausted = Code(rawValue: "idsExhausted")
        /// A predicate failed on an object: an overflow, a division by zero, a forced unwrap of nil.
        public static let predicateFailed = Code(rawValue: "predicateFailed")
        /// A predicate has more than 20,000 conditions and operations.
        public static let predicateTooLarge = Code(rawValue: "predicateTooLarge")
        /// The sum of a field's integers does not fit in its type.
        public static let sumOverflow = Code(rawValue: "sumOverflow")
        /// The store has reached its maximum size.
        public static let storeFull = Code(rawValue: "storeFull")
        /// The disk is full.
        public static let diskFull = Code(rawValue: "diskFull")
        /// One transaction changes more than LMDB can hold at once.
        public static let transactionTooLarge = Code(rawValue: "transactionTooLarge")
        /// A write inside a write, on one thread.
        public static let nestedWrite = Code(rawValue: "nestedWrite")
        /// An option of `Store.Options` has a value that cannot be.
        public static let invalidOptions = Code(rawValue: "invalidOptions")
        /// The history does not hold the commits after a token any more.
        public static let historyExpired = Code(rawValue: "historyExpired")
        /// A token of another store, or of commits that this one does not have: it was restored, or is a copy.
        public static let historyForeign = Code(rawValue: "historyForeign")
        /// The commit itself failed; nothing of the transaction happened.
        public static let commitFailed = Code(rawValue: "commitFailed")
    }

    /// What it is about, as far as it is known.
    public struct Place: Hashable, Sendable, CustomStringConvertible {
        /// The entity's name.
        public var entity: String?
        /// The object's ID, described.
        public var id: String?
        /// The field's name.
        public var field: String?
        /// The file or directory.
        public var path: String?

        /// What is known, as in `entity City, object 42, field name`; empty where nothing is.
        public var description: String {
            let parts: [(String, String?)] = [("entity", entity), ("object", id), ("field", field), ("path", path)]
            return parts.compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: ", ")
        }
    }

    /// What kind of failure it is: what callers match.
    public let code: Code
    /// What went wrong and how to mend it, in one line.
    public let message: String
    /// LMDB's return code or the system's `errno`, where one was the cause.
    public let cause: Int32?
    /// The entity, object, field or file that it is about.
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

extension StoreError: CustomStringConvertible, LocalizedError {
    /// The message and the code's name, in one line.
    public var description: String { "\(message) [\(code)]" }
    /// The message: what `localizedDescription` gives.
    public var errorDescription: String? { message }
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

    static var predicateTooLarge: StoreError {
        StoreError(
            .predicateTooLarge,
            "The predicate has more than \(LoweringContext.maximumParts) conditions and operations: capture the values in an array and test whether it contains the field."
        )
    }

    static var storeClosed: StoreError { StoreError(.storeClosed, "The store has been closed.") }

    static var nestedWrite: StoreError {
        StoreError(
            .nestedWrite, "A write was begun inside a write of the same store: use the transaction that is running.")
    }

    static var noThread: StoreError {
        StoreError(.system, "The system grants no thread: raise its limit of processes (`ulimit -u`) or of memory.")
    }

    static var readOnly: StoreError { StoreError(.readOnly, "The store was opened read-only.") }
}
