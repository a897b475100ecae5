package baton.distributed.rules;

import java.util.Map;

/** The document of a lock or a limiter, which members share. */
public interface SharedState {
    /** The token before the first one, by which the document is told from an earlier one of the same key. */
    long born();

    /** The last token that was given. */
    long fence();

    /** Whether no member has anything of it, or waits. */
    boolean isUnused();

    /** Whether the member waits. */
    boolean isQueued(String member);

    /** The other members that have something of it or wait, with their leases in milliseconds. */
    Map<String, Long> others(String member);

    /** The text of the document. */
    String toText();
}
