package baton.distributed.rules;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The JSON of documents: objects, lists, strings, booleans, and whole numbers of 64 bits. What is read may come from
 * another program, so it is bounded in depth, and all else is refused.
 */
final class Json {
    private static final int MAX_DEPTH = 8;

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /**
     * Reads one value.
     *
     * @throws IllegalArgumentException if the text is anything else
     */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value(0);
        json.skipSpace();
        if (json.at < text.length()) throw json.unexpected();
        return value;
    }

    private Object value(int depth) {
        if (depth > MAX_DEPTH) throw new IllegalArgumentException("nested deeper than " + MAX_DEPTH);
        skipSpace();
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> list(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            default -> number();
        };
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> fields = new LinkedHashMap<>();
        take('{');
        if (takeIf('}')) return fields;
        do {
            skipSpace();
            String name = string();
            take(':');
            if (fields.put(name, value(depth + 1)) != null) {
                throw new IllegalArgumentException("the field \"" + name + "\" comes twice");
            }
        } while (takeIf(','));
        take('}');
        return fields;
    }

    private List<Object> list(int depth) {
        List<Object> values = new ArrayList<>();
        take('[');
        if (takeIf(']')) return values;
        do values.add(value(depth + 1));
        while (takeIf(','));
        take(']');
        return values;
    }

    private String string() {
        if (peek() != '"') throw unexpected();
        at++;
        StringBuilder chars = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            if (c < ' ') throw unexpected();
            chars.append(c == '\\' ? escaped() : c);
        }
        return chars.toString();
    }

    private char escaped() {
        char c = next();
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> {
                if (at + 4 > text.length()) throw unexpected();
                at += 4;
                yield (char) Integer.parseInt(text, at - 4, at, 16);
            }
            default -> throw unexpected();
        };
    }

    private Long number() {
        int start = at;
        if (at < text.length() && text.charAt(at) == '-') at++;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') at++;
        if (start == at) throw unexpected();
        return Long.parseLong(text, start, at, 10);
    }

    private Boolean word(String word, boolean value) {
        if (!text.startsWith(word, at)) throw unexpected();
        at += word.length();
        return value;
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private char next() {
        if (at >= text.length()) throw unexpected();
        return text.charAt(at++);
    }

    private void take(char c) {
        if (!takeIf(c)) throw unexpected();
    }

    private boolean takeIf(char c) {
        skipSpace();
        if (peek() != c) return false;
        at++;
        return true;
    }

    private IllegalArgumentException unexpected() {
        String what = at < text.length() ? "unexpected character" : "unexpected end";
        return new IllegalArgumentException("no JSON: " + what + " at " + at);
    }

    /** Writes a value of the kinds that {@link #read} returns. */
    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> fields) {
            char separator = '{';
            for (Map.Entry<?, ?> field : fields.entrySet()) {
                out.append(separator);
                writeString((String) field.getKey(), out);
                out.append(':');
                write(field.getValue(), out);
                separator = ',';
            }
            out.append(fields.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> values) {
            char separator = '[';
            for (Object element : values) {
                out.append(separator);
                write(element, out);
                separator = ',';
            }
            out.append(values.isEmpty() ? "[]" : "]");
        } else if (value instanceof String string) {
            writeString(string, out);
        } else {
            out.append(value);
        }
    }

    private static void writeString(String string, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < string.length(); i++) {
            char c = string.charAt(i);
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < ' ' || Character.isSurrogate(c)) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        out.append('"');
    }
}
