// SPDX-License-Identifier: Apache-2.0

internal import CRoostLMDB
import Foundation

/// Every environment that this process has open, by the identity of its data file (hazard 1).
///
/// Mutable state, guarded by `condition`:
/// - `environments`: the open ones;
/// - `busy`: the directories in which somebody is opening or closing. That may take as long as a transaction does, so
///   others who want the same directory wait, and nobody else does.
///
/// Unchecked: the compiler cannot tell that `condition` is held wherever the two are touched.
private final class Registry: @unchecked Sendable {
    static let shared = Registry()
    private let condition = NSCondition()
    private var environments: [FileIdentity: Environment] = [:]
    private var busy: Set<FileIdentity> = []

    subscript(identity: FileIdentity) -> Environment? {
        get { condition.withLock { environments[identity] } }
        set { condition.withLock { environments[identity] = newValue } }
    }

    /// Waits until `environment` is closed, or has a user again who is not about to close it.
    func waitForClosing(_ environment: Environment) {
        condition.withLock {
            while environments[environment.identity] === environment, environment.isClosing { condition.wait() }
        }
    }

    /// Runs `body` while nobody else opens or closes in `directory`. Nil, at once, when somebody does and `mayWait` is
    /// false.
    func alone<Result>(in directory: FileIdentity, mayWait: Bool, _ body: () throws -> Result) rethrows -> Result? {
        let isMine = condition.withLock {
            while busy.contains(directory) {
                if !mayWait { return false }
                condition.wait()
            }
            busy.insert(directory)
            return true
        }
        guard isMine else { return nil }
        defer {
            condition.withLock {
                busy.remove(directory)
                condition.broadcast()
            }
        }
        return try body()
    }
}

extension Environment {
    package enum OpenError: Error {
        case lmdb(LMDBError)
        /// The directory or its files could not be made or reached; `errno` and the path.
        case system(Int32, path: String)
        /// This process has the file open with other options.
        case optionsDiffer(open: Options, wanted: Options)
        /// The directory that is to hold the environment's directory does not exist.
        case noParent(path: String)
        /// The data file has more than one name, or is a symbolic link: two names would have two lock files.
        case linked
        /// A lock file has more than one name, or is no file of its own: it would be written over.
        case lockFileLinked(path: String)
        /// Another process has the environment open, and its lock file is gone: a new one would keep nobody apart.
        case lockFileRemoved
        /// Another process has taken the environment for itself.
        case inUse
        /// Called inside a transaction of the environment, while another thread opens or closes it.
        case busy
        /// No address space for a map of even the file's size.
        case noAddressSpace(tried: Int)
    }

    package static func dataFile(in directory: String) -> String { directory + "/data.mdb" }

    /// The default map: address space, not disk or memory. Never grown in practice (hazard 7).
    package static let defaultMapSize = 1 << 40

    /// Opens the environment in `directory`, or hands out the one that this process has open already.
    ///
    /// `inspect` looks at the files before LMDB does (hazard 27); it runs only when the data file exists and this process
    /// has not opened it. `prepare` runs for every open, once the environment is open, before anybody else can open or
    /// close it; when it throws the environment is released again. `triesWhileMissing`: how often, every few milliseconds, a
    /// lock file that others must have is looked for before it counts as removed.
    package static func open<Prepared>(
        directory: String, options: Options, triesWhileMissing: Int = PresenceLock.triesWhileMissing,
        inspect: () throws -> Void,
        prepare: (Environment) throws -> Prepared
    ) throws -> Prepared {
        let file = dataFile(in: directory)
        if try FileIdentity.of(file) == nil {
            if options.isReadOnly { throw OpenError.system(ENOENT, path: file) }
            if mkdir(directory, 0o755) != 0 && errno != EEXIST {
                throw errno == ENOENT ? OpenError.noParent(path: directory) : OpenError.system(errno, path: directory)
            }
        }
        guard let place = try FileIdentity.of(directory) else { throw OpenError.system(ENOENT, path: directory) }
        // Who is inside a transaction must not wait for somebody who may be waiting for its end.
        let mayWait = !ThreadContext.isBusy(in: place)
        let deadline = monotonicMilliseconds() + releasePatience
        while true {
            let opened: Attempt<Prepared>?
            do {
                opened = try Registry.shared.alone(in: place, mayWait: mayWait) { () throws -> Attempt<Prepared> in
                    let environment: Environment
                    switch try shared(directory, place, options, triesWhileMissing, inspect) {
                    case .opened(let shared): environment = shared
                    case .closing(let closing): return .closing(closing)
                    }
                    do {
                        return .opened(try prepare(environment))
                    } catch {
                        release(environment)
                        throw error
                    }
                }
            } catch OpenError.optionsDiffer where mayWait && monotonicMilliseconds() < deadline {
                usleep(1_000)
                continue
            }
            switch opened {
            case .opened(let prepared): return prepared
            case .closing(let environment) where mayWait: Registry.shared.waitForClosing(environment)
            case .closing, nil: throw OpenError.busy
            }
        }
    }

    /// How long, in milliseconds, a user with other options is waited for who may have let go already: whatever gave a task
    /// its result still holds the store for a moment when the task goes on.
    private static let releasePatience: UInt64 = 100

    private enum Attempt<Opened> {
        case opened(Opened)
        /// Open with other options, by users who are all about to close it.
        case closing(Environment)
    }

    private static func shared(
        _ directory: String, _ place: FileIdentity, _ options: Options, _ triesWhileMissing: Int,
        _ inspect: () throws -> Void
    ) throws -> Attempt<Environment> {
        let file = dataFile(in: directory)
        let identity = try FileIdentity.of(file)
        // A link's lock file is not the one beside the file it leads to, or would lead to.
        if FileIdentity.isSymbolicLink(file) { throw OpenError.linked }
        if let identity {
            guard identity.links == 1 else { throw OpenError.linked }
            if let open = Registry.shared[identity] {
                if open.options != options {
                    if open.isClosing { return .closing(open) }
                    throw OpenError.optionsDiffer(open: open.options, wanted: options)
                }
                open.retainUser()
                return .opened(open)
            }
            try inspect()
        }
        let environment = try make(
            directory: directory, place: place, options: options, triesWhileMissing: triesWhileMissing)
        Registry.shared[environment.identity] = environment
        return .opened(environment)
    }

    /// Gives up one use of the environment; the last one waits for the live transactions and closes the file. Must not be
    /// called inside a transaction of it: see `isBusyOnThisThread`. `isAnnounced`: whether `announceClose` was called.
    package static func close(_ environment: Environment, isAnnounced: Bool = false) {
        _ = Registry.shared.alone(in: environment.place, mayWait: true) {
            release(environment, isAnnounced: isAnnounced)
        }
    }

    private static func release(_ environment: Environment, isAnnounced: Bool = false) {
        guard environment.releaseUser(isAnnounced: isAnnounced) else { return }
        environment.shutDown()
        Registry.shared[environment.identity] = nil
    }

    private static func make(
        directory: String, place: FileIdentity, options: Options, triesWhileMissing: Int
    ) throws(OpenError) -> Environment {
        let (presence, environment) = try PresenceLock.opening(
            directory, isReadOnly: options.isReadOnly, slots: options.slotLimit, triesWhileMissing: triesWhileMissing
        ) {
            () throws(OpenError) in
            try attempt(directory: directory, place: place, options: options)
        } discard: {
            $0.shutDown()
        }
        environment.keep(presence)
        return environment
    }

    private static func attempt(
        directory: String, place: FileIdentity, options: Options
    ) throws(OpenError) -> Environment {
        var size = mapSize(for: options)
        let smallest = max(fileSize(dataFile(in: directory)), 1 << 20)
        while true {
            do throws(LMDBError) {
                return try make(directory: directory, place: place, options: options, mapSize: size)
            } catch {
                if error.code == ENOMEM {
                    // Hazard 8: `ulimit -v`, valgrind and the sanitizers refuse large maps.
                    if size / 2 < smallest { throw .noAddressSpace(tried: size) }
                    size = size / 2 / mapUnit * mapUnit
                } else if error.code > 0 {
                    throw .system(error.code, path: directory)
                } else {
                    throw .lmdb(error)
                }
            }
        }
    }

    private static func make(
        directory: String, place: FileIdentity, options: Options, mapSize: Int
    ) throws(LMDBError) -> Environment {
        var created: OpaquePointer?
        try check(mdb_env_create(&created), "mdb_env_create")
        guard let handle = created else { throw failure(MDB_PANIC, "mdb_env_create") }
        do throws(LMDBError) {
            try check(mdb_env_set_maxdbs(handle, UInt32(options.databaseLimit)), "mdb_env_set_maxdbs")
            try check(mdb_env_set_maxreaders(handle, UInt32(options.slotLimit)), "mdb_env_set_maxreaders")
            try check(mdb_env_set_mapsize(handle, mapSize), "mdb_env_set_mapsize")
            var flags = MDB_NOTLS
            if options.isReadOnly { flags |= MDB_RDONLY }
            switch options.durability {
            case .full: break
            case .relaxed: flags |= MDB_NOMETASYNC
            case .unsafe: flags |= MDB_NOSYNC
            }
            let code = Descriptors.withStreamsTaken { mdb_env_open(handle, directory, UInt32(flags), 0o644) }
            try check(code, "mdb_env_open")
            var descriptor: mdb_filehandle_t = -1
            try check(mdb_env_get_fd(handle, &descriptor), "mdb_env_get_fd")
            guard descriptor > STDERR_FILENO else { throw failure(EBADF, "mdb_env_open") }
            // LMDB leaves this one open in the programs that the process starts.
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw failure(errno, "fcntl") }
        } catch {
            mdb_env_close(handle)
            throw error
        }
        guard let identity = try? FileIdentity.of(dataFile(in: directory)) else {
            let code = errno
            mdb_env_close(handle)
            throw failure(code, "stat")
        }
        let environment = Environment(
            directory: directory, place: place, options: options, identity: identity, handle: handle)
        // A file that is larger than the limit fills a map of its own size.
        if !options.isReadOnly, options.maximumSize != nil { environment.makeRoom() }
        environment.clearDeadReaders()
        return environment
    }

    /// What to ask for first: what the caller's limit takes, `ROOST_MAP_SIZE` (bytes) for tools and tests, or the default.
    private static func mapSize(for options: Options) -> Int {
        if let limit = options.maximumSize { return mapSize(for: limit) }
        let wanted =
            ProcessInfo.processInfo.environment["ROOST_MAP_SIZE"].flatMap { Int($0) } ?? defaultMapSize
        return max(mapUnit, wanted / mapUnit * mapUnit)
    }

    private static func fileSize(_ path: String) -> Int {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) : 0
    }
}
