// SPDX-License-Identifier: Apache-2.0

#if ROOST_THREAD_SANITIZER
    import RoostLMDB

    /// The one that the thread sanitizer sees, here too: the module's own name wins over the imported ones.
    typealias Mutex = SanitizedMutex
#endif
