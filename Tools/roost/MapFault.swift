// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A damaged file's last resort. LMDB follows the numbers in the file's pages unchecked, out of the map or behind the file's
/// end, which the system answers with a signal; its own assertions abort. The program then ends as it does for every store
/// that cannot be read.
enum MapFault {
    static func catchSignals() {
        for number in [SIGSEGV, SIGBUS, SIGFPE, SIGABRT] {
            signal(number) { _ in
                // Nothing but `write` and `_exit` is safe here.
                let line: StaticString = """
                    roost: The store cannot be read: its file is damaged, or was cut off while it was read. [damaged]

                    """
                line.withUTF8Buffer { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
                _exit(RoostTool.ExitCode.failure.rawValue)
            }
        }
    }
}
