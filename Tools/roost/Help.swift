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

        PATH is the store's directory. In place of the = of --where: != < <= > >= ^= (starts with); given more than
        once, all must hold. Errors are one line on the standard error stream, if there is one.

        exit codes:
          0   done; also when whoever read the output has closed the pipe
          1   the store cannot be read, or the output cannot be written: a full disk, a closed stream
          2   a mistake in the command: options, type, field or value

        """

    private static let info = """
        usage: roost info PATH [--json]

        Prints the store's ID, format, commits, sizes and the readers of other processes, and for each type its
        fields, objects, record layouts and indexes.

        """

    private static let query = """
        usage: roost query PATH TYPE [OPTION …]

        Prints the objects of a type as a table. Columns are as wide as the first 1,000 rows need, at most 60
        characters; on a terminal a value is cut after 40, elsewhere a longer one is whole and runs over. Controls
        and characters that cannot be seen are shown as \\n or \\u{202e}.

        Rows are printed while they are read, from one state of the store. As long as the output is not taken, the
        file cannot use the pages of that state again.

          --where FIELD=VALUE   only objects whose field has the value; also != < <= > >= and ^= (starts with).
                                Given more than once, all must hold. For an array = means: has this element.
          --sort FIELD[:desc]   order by a field, given again to break ties; by ID in the end, or from the start.
                                Null comes first, NaN last, text in the order of its UTF-8 bytes in NFC form.
          --limit N             at most N objects
          --offset N            without the first N
          --explain             also how the query was carried out: the plan, and what it read
          --json                one array of objects, one object a line, fields in their order; with --explain the
                                explanation goes to the standard error stream

        Values, as a table shows them and a condition takes them:
          text      as it is
          null      a missing value, where the field may miss one
          integers  42, -7
          floats    1.5, 1e-3, inf, -inf, nan (which equals nothing)
          bool      true, false
          uuid      E621E1F8-C36C-495A-93FC-0C247A3E6E5F
          date      2024-05-31, 2024-05-31T18:30:00.25Z, 2024-05-31T20:30:00+02:00; without a zone it is UTC.
                    @ and seconds since 2001-01-01 UTC, where no four-digit year or no fraction of 20 digits
                    says it: @1e-310, @1e+15, @-inf, @nan
          data      hexadecimal digits, two a byte
          arrays    as in JSON; a condition takes one element

        With --json, as Swift's JSONEncoder writes them, but for dates:
          integers  all their digits; some readers round those beyond 2^53
          floats    numbers; "inf", "-inf" and "nan" are strings (convertFromString of JSONDecoder)
          uuid      a string
          date      a string, spelled as above in UTC: .iso8601 of JSONDecoder reads those of whole seconds
          data      a string in base64

        """
}
