package samples.support.uptime;

import java.util.Collection;
import java.util.stream.Collectors;

/** Writes a JSON object on one line. Not thread-safe. */
final class Json {
    private final StringBuilder members = new StringBuilder();

    Json number(String name, long value) {
        return raw(name, Long.toString(value));
    }

    Json text(String name, String value) {
        return raw(name, quoted(value));
    }

    /** A member whose value is JSON. */
    Json raw(String name, String value) {
        if (members.length() > 0) members.append(',');
        members.append(quoted(name)).append(':').append(value);
        return this;
    }

    @Override
    public String toString() {
        return "{" + members + "}";
    }

    /** The array of {@code values}, which are JSON. */
    static String array(Collection<String> values) {
        return values.stream().collect(Collectors.joining(",", "[", "]"));
    }

    /** Also what ends an element of HTML or a line of a script is escaped. */
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c == '<' || c == 0x7f || c == 0x2028 || c == 0x2029) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                if (c == '"' || c == '\\') quoted.append('\\');
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
