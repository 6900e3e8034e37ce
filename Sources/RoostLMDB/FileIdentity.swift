// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The file itself, whatever path leads to it (hazard 1).
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let links: Int

    /// Nil when there is no such file; throws when that cannot be told. Does not open it: closing a descriptor of a file
    /// that LMDB has open would drop the process's locks (hazard 2).
    static func of(_ path: String) throws(Environment.OpenError) -> FileIdentity? {
        var info = stat()
        guard stat(path, &info) == 0 else {
            // Below something that is no directory there is nothing.
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .system(errno, path: path)
        }
        return FileIdentity(device: UInt64(info.st_dev), inode: UInt64(info.st_ino), links: Int(info.st_nlink))
    }

    /// Whether the path's last component is a symbolic link.
    static func isSymbolicLink(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFLNK
    }

    static func == (a: FileIdentity, b: FileIdentity) -> Bool { a.device == b.device && a.inode == b.inode }

    func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
    }
}
