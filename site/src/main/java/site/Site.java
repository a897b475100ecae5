package site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Completes the folder that Dokka has filled with the API: the guide as HTML, and one index page over all. The build fails if a link
 * of a page is dead, or names a place on this machine.
 */
public final class Site {
    /** A placeholder of the Kotlin API in links from the Java API, because Dokka accepts absolute addresses only. */
    private static final String KOTLIN_API = "file:/api/kotlin/";

    private static final Pattern KOTLIN_LINK = Pattern.compile("href=\"" + KOTLIN_API + "([^\"]*)\"");

    private final Path checkout;
    private final Path folder;

    private Site(Path checkout, Path folder) {
        this.checkout = checkout;
        this.folder = folder;
    }

    /** Takes the checkout, the folder, and the address under which a forge shows a file of the checkout. */
    public static void main(String[] args) throws IOException {
        Path checkout = Path.of(args[0]).toRealPath();
        Path folder = Path.of(args[1]).toRealPath();
        Site site = new Site(checkout, folder);
        site.linkTheApis();
        site.writeGuide(args[2]);
        List<String> faults = new Links(folder, checkout).faults();
        if (!faults.isEmpty()) {
            throw new IllegalStateException(faults.size() + " faulty links\n" + String.join("\n", faults));
        }
    }

    private void linkTheApis() throws IOException {
        for (Path page : pages(folder.resolve("api/java"))) {
            String html = Files.readString(page);
            if (!html.contains("\"" + KOTLIN_API)) continue;
            Files.writeString(page, KOTLIN_LINK.matcher(html).replaceAll(link -> {
                Path target = existing(link.group(1));
                return Matcher.quoteReplacement(
                        "href=\"" + Links.url(page.getParent().relativize(target)) + "\"");
            }));
        }
    }

    /**
     * The page that a link to the Kotlin API means. Dokka guesses the place of a page that is not in its list: it leaves out the
     * folder of the module, and names a getter where there is a property.
     */
    private Path existing(String written) {
        Path target = folder.resolve("api/kotlin").resolve(written);
        if (Files.exists(target)) return target;
        String property = target.getFileName().toString().replaceFirst("^get-", "");
        return folder.resolve("api/kotlin/baton-kotlin").resolve(written).resolveSibling(property);
    }

    private void writeGuide(String forge) throws IOException {
        List<Path> documents = new ArrayList<>();
        try (Stream<Path> files = Files.list(checkout.resolve("docs"))) {
            for (Path file : files.sorted().toList()) {
                if (file.toString().endsWith(".md")) {
                    documents.add(file);
                } else {
                    Files.createDirectories(folder.resolve("docs"));
                    Files.write(folder.resolve("docs").resolve(file.getFileName()), Files.readAllBytes(file));
                }
            }
        }
        try (Stream<Path> files = Files.walk(checkout, 2)) {
            files.filter(file -> !file.startsWith(checkout.resolve("docs")))
                    .filter(file -> !checkout.relativize(file).toString().matches("(site|.*target|\\..*)/.*"))
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .forEach(documents::add);
        }
        Markdown markdown = new Markdown(checkout, documents, forge);
        for (Path document : documents) {
            Path page =
                    folder.resolve(Markdown.pageOf(checkout.relativize(document).toString()));
            Files.createDirectories(page.getParent());
            Files.writeString(page, markdown.html(document));
        }
    }

    static List<Path> pages(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".html")).toList();
        }
    }
}
