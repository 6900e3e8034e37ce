// SPDX-License-Identifier: Apache-2.0

/// What `body` throws; nil when it returns. For where `#expect(throws:)` cannot stand, such as inside another one.
package func failure<Result>(of body: () throws -> Result) -> (any Error)? {
    do {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// The asynchronous form.
package func failure<Result>(
    isolation: isolated (any Actor)? = #isolation, awaiting body: () async throws -> Result
) async -> (any Error)? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
