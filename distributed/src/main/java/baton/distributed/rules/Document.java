package baton.distributed.rules;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A JSON object, read field by field. A field that is missing or of another kind is refused by name. */
final class Document {
    /** The version of the format that this program writes. */
    static final long FORMAT = 1;

    private final Map<?, ?> fields;

    private Document(Map<?, ?> fields) {
        this.fields = fields;
    }

    /** The fields with which each document begins. */
    static Map<String, Object> fields(String kind) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("baton", FORMAT);
        fields.put("kind", kind);
        return fields;
    }

    /**
     * A document of that kind.
     *
     * @throws IllegalArgumentException if it is none, or of another format
     */
    static Document parse(String kind, String text) {
        Document document = parse(text);
        String found = document.string("kind");
        if (!found.equals(kind)) throw new IllegalArgumentException("of the kind " + found + ", not " + kind);
        return document;
    }

    /** A document of any kind. */
    static Document parse(String text) {
        if (!(Json.read(text) instanceof Map<?, ?> fields)) throw new IllegalArgumentException("no JSON object");
        Document document = new Document(fields);
        long format = document.number("baton", 1, Long.MAX_VALUE);
        if (format != FORMAT) {
            throw new IllegalArgumentException(
                    "format " + format + ", but this version of the library reads format " + FORMAT + " alone");
        }
        return document;
    }

    String string(String name) {
        if (fields.get(name) instanceof String value) return value;
        throw missing(name, "a string");
    }

    /** Empty if there is none: earlier versions did not write it. */
    String stringIfAny(String name) {
        return fields.containsKey(name) ? string(name) : "";
    }

    /** 0 if there is none: earlier versions did not write it. */
    long numberIfAny(String name) {
        return fields.containsKey(name) ? number(name, 0, Long.MAX_VALUE) : 0;
    }

    boolean flag(String name) {
        if (fields.get(name) instanceof Boolean value) return value;
        throw missing(name, "true or false");
    }

    long number(String name, long least, long most) {
        if (fields.get(name) instanceof Long value && value >= least && value <= most) return value;
        throw missing(name, "a number within " + least + ".." + most);
    }

    int positive(String name) {
        return (int) number(name, 1, Integer.MAX_VALUE);
    }

    List<Document> list(String name) {
        if (!(fields.get(name) instanceof List<?> values)) throw missing(name, "a list");
        List<Document> entries = new ArrayList<>();
        for (Object value : values) {
            if (!(value instanceof Map<?, ?> entry)) throw missing(name, "a list of objects");
            entries.add(new Document(entry));
        }
        return entries;
    }

    List<String> strings(String name) {
        if (!(fields.get(name) instanceof List<?> values)) throw missing(name, "a list");
        List<String> strings = new ArrayList<>();
        for (Object value : values) {
            if (!(value instanceof String string)) throw missing(name, "a list of strings");
            strings.add(string);
        }
        return strings;
    }

    private static IllegalArgumentException missing(String name, String kind) {
        return new IllegalArgumentException("the field " + name + " is not " + kind);
    }
}
