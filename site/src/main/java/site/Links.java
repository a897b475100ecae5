package site;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Looks for links that lead nowhere, and for traces of the machine that has built the pages. Addresses on other servers are not fetched. */
final class Links {
    private static final Pattern TARGET = Pattern.compile("\\s(?:href|src)=\"([^\"]*)\"");
    private static final Pattern ANCHOR = Pattern.compile("\\s(?:id|name|anchor-label)=\"([^\"]*)\"");
    private static final Pattern ELSEWHERE = Pattern.compile("(?:https?|mailto|data|javascript):.*");

    private final Path folder;
    private final Path checkout;
    private final Map<Path, Set<String>> anchors = new HashMap<>();

    Links(Path folder, Path checkout) {
        this.folder = folder;
        this.checkout = checkout;
    }

    List<String> faults() throws IOException {
        List<String> faults = new ArrayList<>();
        for (Path page : Site.pages(folder)) {
            String html = Files.readString(page);
            String name = folder.relativize(page).toString();
            if (html.contains(checkout.toString())) faults.add(name + " names the folder of this checkout");
            for (MatchResult link : TARGET.matcher(html).results().toList()) {
                String target = link.group(1).replace("&amp;", "&");
                if (!ELSEWHERE.matcher(target).matches() && !leadsSomewhere(page, target))
                    faults.add(name + " -> " + target);
            }
        }
        return faults;
    }

    private boolean leadsSomewhere(Path page, String target) throws IOException {
        int hash = target.indexOf('#');
        String path = hash < 0 ? target : target.substring(0, hash);
        path = path.replaceFirst("\\?.*", "");
        if (path.startsWith("/") || path.contains(":")) return false;
        Path file = path.isEmpty() ? page : page.resolveSibling(decoded(path)).normalize();
        if (!file.startsWith(folder)) return false;
        if (Files.isDirectory(file)) file = file.resolve("index.html");
        if (!Files.exists(file)) return false;
        // Dokka's pages make their anchors by a script.
        boolean isApi = file.startsWith(folder.resolve("api"));
        return hash < 0
                || isApi
                || hash == target.length() - 1
                || anchorsOf(file).contains(decoded(target.substring(hash + 1)));
    }

    private Set<String> anchorsOf(Path page) throws IOException {
        Set<String> known = anchors.get(page);
        if (known == null) {
            known = new HashSet<>();
            for (MatchResult anchor :
                    ANCHOR.matcher(Files.readString(page)).results().toList()) known.add(anchor.group(1));
            anchors.put(page, known);
        }
        return known;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** A relative path as it stands in a page. */
    static String url(Path path) {
        return path.toString().replace('\\', '/').replace(" ", "%20");
    }
}
