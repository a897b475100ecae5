package baton.distributed.rules;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The last document of a lock that no member has used for long. Nothing is granted of it. The member that finds it takes
 * the key out of its {@link NamesState} and then removes this, so that the lock is new at its next use.
 *
 * @param fence the last token that was given
 */
public record EndedState(long fence) {
    private static final String KIND = "ended";

    /** The text of the document. */
    public String toText() {
        Map<String, Object> fields = Document.fields(KIND);
        fields.put("fence", fence);
        return Json.write(fields);
    }

    /**
     * The end of a document; null if it is of another kind.
     *
     * @throws IllegalArgumentException if it is none of this library
     */
    public static @Nullable EndedState parse(String text) {
        Document document = Document.parse(text);
        if (!document.string("kind").equals(KIND)) return null;
        return new EndedState(document.number("fence", 0, LockState.MAX_TOKEN));
    }
}
