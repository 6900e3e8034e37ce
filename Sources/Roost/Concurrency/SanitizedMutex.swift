// SPDX-License-Identifier: Apache-2.0

#if ROOST_THREAD_SANITIZER
    internal import RoostLMDB

    /// The one that the thread sanitizer sees, in place of the standard library's.
    typealias Mutex = SanitizedMutex
#endif
