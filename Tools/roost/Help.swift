// SPDX-License-Identifier: Apache-2.0

enum Help {
    static let version = "0.1.0"

    static func text(_ topic: Command.Topic?) -> String {
        switch topic {
        case nil: general
        case .info: info
        case .query: query
        }
    }

    private static let general = """
        Looks into a Roost store by its catalog, without the Swift types. Never changes the store.

        usage:
          roost info PATH [--json]
          roost query PATH TYPE [--where FIELD=VALUE …] [--sort FIELD[:desc] …] [--limit N] [--offset N]
                                [--explain] [--json]
          roost info --help, roost query --help
          roost --version

        PATH is the store's directory. Exit codes: 0 done, 1 the store cannot be read, 2 a mistake in the command
        (options, type, field or value). Errors are one line on the standard error stream.

        """

    private static let info = """
        usage: roost info PATH [--json]

        Prints the store's ID, format, commits, sizes and readers, and for each type its fields, objects, record
        layouts and indexes.

        """

    private static let query = """
        usage: roost query PATH TYPE [OPTION …]

        Prints the objects of a type as a table; long values are shortened on a terminal only.

          --where FIELD=VALUE   only objects whose field has the value; also != < <= > >= and ^= (starts with).
                                Given more than once, all must hold. For an array = means: has this element.
          --sort FIELD[:desc]   order by a field, given again to break ties; by ID in the end, or from the start.
                                Null comes first, NaN last, text in the order of its UTF-8 bytes in NFC form.
          --limit N             at most N objects
          --offset N            without the first N
          --explain             also how the query was carried out: the plan, and what it read
          --json                one array of objects, one object a line, fields in their order; with --explain the
                                explanation goes to the standard error stream

        Values, as they are read and printed:
          text      as it is
          null      a missing value, where the field may miss one
          integers  42, -7; exact in JSON, too
          floats    1.5, 1e-3, inf, -inf, nan (which equals nothing); in JSON inf and nan are strings
          bool      true, false
          uuid      E621E1F8-C36C-495A-93FC-0C247A3E6E5F
          date      2024-05-31, 2024-05-31T18:30:00.25Z, 2024-05-31T20:30:00+02:00; without a zone it is UTC
          data      hexadecimal digits, two a byte

        """
}
