package baton.distributed.rules;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * One of the documents that list the keys of the locks that were ever used, so that a lock whose document has vanished is
 * told from a new one. A key is in one of {@value #DOCUMENTS} of them: of 100,000 locks, a hundred stand in each, some
 * kilobytes, and the first use of a lock reads and writes one.
 *
 * @param keys in no order
 */
public record NamesState(List<String> keys) {
    private static final String KIND = "names";

    /** How many of these documents there are. */
    public static final int DOCUMENTS = 1024;

    public NamesState {
        keys = List.copyOf(keys);
    }

    /** In which of the documents the key belongs. */
    public static int indexOf(String key) {
        int hash = key.hashCode();
        return Math.floorMod(hash ^ (hash >>> 16), DOCUMENTS);
    }

    /** This, with one more key. */
    public NamesState with(String key) {
        TreeSet<String> all = new TreeSet<>(keys);
        all.add(key);
        return new NamesState(List.copyOf(all));
    }

    /** The text of the document. */
    public String toText() {
        Map<String, Object> fields = Document.fields(KIND);
        fields.put("names", keys);
        return Json.write(fields);
    }

    /**
     * The names of a document.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static NamesState parse(String text) {
        return new NamesState(Document.parse(KIND, text).strings("names"));
    }
}
