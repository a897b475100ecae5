package samples.support;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Removes the secrets from a text that is printed, logged or shown: the user and password before the @ of a URL, and the
 * values of all parameters of a URL. If the URL is known, its passwords are also found where a message quotes them alone.
 */
public final class Redaction {
    /** For texts about no particular URL. */
    public static final Redaction GENERAL = new Redaction("");

    private static final String HIDDEN = "***";
    private static final Pattern WORD = Pattern.compile("\\S+");

    /** As in {@code ?name=value} and {@code ;name=value}. It ends at the next space, because drivers differ in the end of a value. */
    private static final Pattern PARAMETERS = Pattern.compile("([?&;][^=?&;\\s]*=)\\S+");

    private static final Pattern ASSIGNMENT = Pattern.compile("(\\b\\w++\\s*+=\\s*+)\\S++");
    private static final Pattern SECRET_NAME =
            Pattern.compile("password|passwd|passphrase|pwd|secret|token|credential|key", Pattern.CASE_INSENSITIVE);

    /** A shorter one would also be found in the words of a message. */
    private static final int SHORTEST = 4;

    /** The longest first, because one may contain another. */
    private final List<String> secrets;

    /** Also hides the passwords among the parameters of {@code url}, wherever they stand. */
    public Redaction(String url) {
        secrets = Stream.of(url.split("[?&]|(?<!\\\\);"))
                .map(parameter -> parameter.split("=", 2))
                .filter(parameter -> parameter.length == 2 && isSecret(parameter[0]))
                .flatMap(parameter -> forms(parameter[1]))
                .filter(secret -> secret.length() >= SHORTEST)
                .sorted(Comparator.comparing(String::length).reversed())
                .toList();
    }

    /** The value as in the URL, as PostgreSQL decodes it, and as H2 reads it, where one value may hold two passwords. */
    private static Stream<String> forms(String value) {
        String unescaped = value.replace("\\;", ";");
        return Stream.concat(Stream.of(value, decoded(value), unescaped), Stream.of(unescaped.split(" ")));
    }

    private static String decoded(String value) {
        try {
            return URLDecoder.decode(value, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException malformed) {
            return value;
        }
    }

    public String of(String text) {
        String hidden = text;
        for (String secret : secrets) hidden = hidden.replace(secret, HIDDEN);
        hidden = replaced(hidden, WORD, word -> anonymous(word.group()));
        hidden = replaced(hidden, PARAMETERS, begin -> begin.group(1) + HIDDEN);
        return replaced(hidden, ASSIGNMENT, name -> isSecret(name.group(1)) ? name.group(1) + HIDDEN : name.group());
    }

    private static String replaced(String text, Pattern pattern, Function<MatchResult, String> replacement) {
        return pattern.matcher(text).replaceAll(match -> Matcher.quoteReplacement(replacement.apply(match)));
    }

    private static boolean isSecret(String name) {
        return SECRET_NAME.matcher(name).find();
    }

    /** Without the user and the password in a word like {@code scheme://user:password@host} or the end of one. */
    private static String anonymous(String word) {
        int at = word.lastIndexOf('@');
        int colon = word.indexOf(':');
        int slashes = word.indexOf("//");
        boolean isUrl = colon >= 0 && colon < at || slashes >= 0 && slashes < at;
        if (!isUrl) return word;
        boolean hasScheme = slashes > 0 && slashes < at && word.charAt(slashes - 1) == ':';
        return (hasScheme ? word.substring(0, slashes + 2) : "") + HIDDEN + word.substring(at);
    }
}
