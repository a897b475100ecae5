package baton.distributed.rules;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The one document of a store by which its members know that it has not lost all the others.
 *
 * @param id random, another one after each loss
 * @param isRested whether a lease has passed since this was written first; nothing is granted before
 * @param gone the documents that have vanished alone
 */
public record EpochState(String id, boolean isRested, List<Gone> gone) {
    private static final String KIND = "epoch";

    /**
     * A document that has vanished. Nothing is granted of it for one lease, in which its holders find it here.
     *
     * @param mark random. Who removes it, after a lease, may create the document; who finds another mark begins again
     */
    public record Gone(String key, String mark) {}

    public EpochState {
        gone = List.copyOf(gone);
    }

    /** This, rested. */
    public EpochState rested() {
        return new EpochState(id, true, gone);
    }

    /** The mark of the document; null if it has none. */
    public @Nullable String markOf(String key) {
        for (Gone entry : gone) if (entry.key.equals(key)) return entry.mark;
        return null;
    }

    /** This, with the document marked, unless it is. */
    public EpochState marked(String key, String mark) {
        if (markOf(key) != null) return this;
        List<Gone> more = new ArrayList<>(gone);
        more.add(new Gone(key, mark));
        return new EpochState(id, isRested, more);
    }

    /** This, without that mark of the document. */
    public EpochState unmarked(String key, String mark) {
        List<Gone> less = new ArrayList<>(gone);
        less.remove(new Gone(key, mark));
        return new EpochState(id, isRested, less);
    }

    /** The text of the document. */
    public String toText() {
        List<Object> entries = new ArrayList<>();
        for (Gone entry : gone) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("key", entry.key);
            fields.put("mark", entry.mark);
            entries.add(fields);
        }
        Map<String, Object> fields = Document.fields(KIND);
        fields.put("id", id);
        fields.put("rested", isRested);
        fields.put("gone", entries);
        return Json.write(fields);
    }

    /**
     * The epoch of a document.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static EpochState parse(String text) {
        Document document = Document.parse(KIND, text);
        List<Gone> gone = new ArrayList<>();
        for (Document entry : document.list("gone")) gone.add(new Gone(entry.string("key"), entry.string("mark")));
        return new EpochState(document.string("id"), document.flag("rested"), gone);
    }
}
