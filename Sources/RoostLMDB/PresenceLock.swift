// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A shared lock (`flock`) on the environment's directory, which everybody holds who has the environment open, from before
/// LMDB opens its files until after it has closed them. Who must be alone, to make LMDB's lock file, holds it exclusively.
///
/// On the directory and not on a file in it: whoever removes files takes nobody's lock away. LMDB's own lock file cannot
/// serve: closing a descriptor of it would drop LMDB's locks (hazard 2). And it must not be made anew while somebody uses one
/// that was removed: the two would not see each other and both would write (hazard 41).
package final class PresenceLock: Sendable {
    /// Nil for a reader who may not open the directory.
    private let descriptor: Int32?
    /// A child has the descriptor as well, and the lock with it, which is its parent's to give up.
    private let owner = getpid()

    private init(_ descriptor: Int32?) { self.descriptor = descriptor }

    deinit {
        guard let descriptor else { return }
        // Also for a copy of the descriptor that a child has between its fork and its exec.
        if getpid() == owner { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    private static func lockFile(in directory: String) -> String { directory + "/lock.mdb" }

    /// Others' openings take milliseconds each; 600 tries of 5 ms are 3 seconds.
    private static let tries = 600
    /// Who makes the lock file holds the lock exclusively, and who waits for that holds none: that it is missing, or that nobody
    /// uses it, while somebody has a shared lock can only be seen again and again while that one is closing.
    package static let triesWhileMissing = 500
    private static let pause = 5_000

    /// Runs `body`, which lets LMDB open its files, under the lock, and returns the lock with what it gave. Alone when LMDB's
    /// lock file has to be made. `discard` undoes `body` where it turns out that somebody else made another lock file.
    static func opening<Result>(
        _ directory: String, isReadOnly: Bool, slots: Int, triesWhileMissing: Int,
        _ body: () throws(Environment.OpenError) -> Result, discard: (Result) -> Void
    ) throws(Environment.OpenError) -> (PresenceLock, Result) {
        let lockFile = lockFile(in: directory)
        try verify(lockFile)
        var missing = 0
        for _ in 0..<tries {
            let descriptor = Descriptors.open(directory, O_RDONLY | O_DIRECTORY)
            if descriptor < 0 {
                let code = errno
                guard isReadOnly, code == EACCES else { throw .system(code, path: directory) }
                return (PresenceLock(nil), try body())
            }
            let lock = PresenceLock(descriptor)
            // Taken exclusively first: a shared lock that is to become an exclusive one is lost where it cannot.
            if try take(LOCK_EX, descriptor, directory) {
                if isSameFile(descriptor, directory) {
                    try allocate(lockFile, slots: slots)
                    let result = try body()
                    let made = identity(of: lockFile)
                    // The system lets go of the one lock before it takes the other: somebody else can be alone in between,
                    // and finds the lock file that is used, unless it was removed just then.
                    while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
                    if identity(of: lockFile) == made { return (lock, result) }
                    discard(result)
                }
            } else if isInUse(lockFile) {
                if try take(LOCK_SH, descriptor, directory), isSameFile(descriptor, directory), isInUse(lockFile) {
                    return (lock, try body())
                }
            } else {
                missing += 1
                // Who is alone may be long about it, and needs no lock file.
                if missing >= triesWhileMissing, try take(LOCK_SH, descriptor, directory), !isInUse(lockFile) {
                    throw .lockFileRemoved
                }
            }
            // Somebody else is making the lock file, or is alone for another reason. Two who look in step would go on so.
            // Nobody keeps a lock who waits: it would keep the others from being alone.
            withExtendedLifetime(lock) {}
            usleep(UInt32.random(in: UInt32(pause / 2)...UInt32(pause)))
        }
        throw .inUse
    }

    /// False where somebody else holds a lock that excludes this one.
    private static func take(
        _ kind: Int32, _ descriptor: Int32, _ directory: String
    ) throws(Environment.OpenError) -> Bool {
        while flock(descriptor, kind | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw .system(errno, path: directory) }
        }
        return true
    }

    /// Gives LMDB's lock file its memory on the disk: LMDB only sets its length, and writing through the map where the disk is
    /// full would end the process. A slot takes 64 bytes, and what stands before them two; LMDB makes as many as there is room for.
    private static func allocate(_ lockFile: String, slots: Int) throws(Environment.OpenError) {
        #if os(Linux)
            let descriptor = Descriptors.open(lockFile, O_RDWR | O_CREAT | O_NOFOLLOW)
            // Where it cannot be written LMDB says why, or does without.
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            let code = posix_fallocate(descriptor, 0, off_t(64 * (slots + 2)))
            if code == ENOSPC || code == EDQUOT { throw .system(ENOSPC, path: lockFile) }
        #endif
    }

    /// Whether a process holds LMDB's lock on the lock file. When others have the environment open and nobody does, theirs was
    /// removed and this is another one. This process has it closed, so that it loses no lock by closing the file (hazard 2).
    private static func isInUse(_ lockFile: String) -> Bool {
        let descriptor = Descriptors.open(lockFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        // Where it cannot be read LMDB says why.
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        var request = Foundation.flock()
        request.l_type = Int16(F_WRLCK)
        request.l_whence = Int16(SEEK_SET)
        guard fcntl(descriptor, F_GETLK, &request) == 0 else { return true }
        return request.l_type != Int16(F_UNLCK)
    }

    /// A link would have somebody else's file written; a second name would be another store's lock.
    private static func verify(_ path: String) throws(Environment.OpenError) {
        var info = stat()
        guard lstat(path, &info) == 0 else {
            if errno == ENOENT { return }
            throw .system(errno, path: path)
        }
        guard info.st_mode & S_IFMT == S_IFREG, info.st_nlink == 1 else { throw .lockFileLinked(path: path) }
    }

    private static func identity(of path: String) -> FileIdentity? { (try? FileIdentity.of(path)) ?? nil }

    /// Whether the locked directory is still the one of that name.
    private static func isSameFile(_ descriptor: Int32, _ path: String) -> Bool {
        var (opened, named) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, stat(path, &named) == 0 else { return false }
        return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }
}
