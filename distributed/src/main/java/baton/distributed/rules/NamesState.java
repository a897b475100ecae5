package baton.distributed.rules;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * One of the documents that list the keys of the locks that are in use, so that a lock whose document has vanished is
 * told from a new one. A key is in one of {@value #DOCUMENTS} of them: of 100,000 locks, a hundred stand in each, some
 * kilobytes, and the first use of a lock reads and writes one.
 *
 * @param keys in no order
 * @param fence the highest token that was given of a lock that has ended: those of new locks are above it
 */
public record NamesState(List<String> keys, long fence) {
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
        return new NamesState(List.copyOf(all), fence);
    }

    /** This, without the key of a lock that has ended, whose last token is given. */
    public NamesState without(String key, long lastToken) {
        TreeSet<String> all = new TreeSet<>(keys);
        all.remove(key);
        return new NamesState(List.copyOf(all), Math.max(fence, lastToken));
    }

    /** The text of the document. */
    public String toText() {
        Map<String, Object> fields = Document.fields(KIND);
        fields.put("names", keys);
        fields.put("fence", fence);
        return Json.write(fields);
    }

    /**
     * The names of a document.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static NamesState parse(String text) {
        Document document = Document.parse(KIND, text);
        return new NamesState(document.strings("names"), document.number("fence", 0, LockState.MAX_TOKEN));
    }
}
