package baton.distributed.rules;

import java.util.Map;

/**
 * The document of a member: each heartbeat writes it again. A member whose document is gone, or was written by another
 * hand, is dead.
 *
 * @param name for people
 * @param beat the number of the heartbeat
 */
public record MemberState(String name, long leaseMillis, long beat) {
    private static final String KIND = "member";

    /** The next heartbeat. */
    public MemberState next() {
        return new MemberState(name, leaseMillis, beat + 1);
    }

    /** The text of the document. */
    public String toText() {
        Map<String, Object> fields = Document.fields(KIND);
        fields.put("name", name);
        fields.put("lease", leaseMillis);
        fields.put("beat", beat);
        return Json.write(fields);
    }
}
