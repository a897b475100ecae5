package site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.heading.anchor.HeadingAnchorExtension;
import org.commonmark.node.Node;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;

/** Turns a document of the checkout into a page. Links to other documents lead to their pages, links to code to the forge. */
final class Markdown {
    private static final List<Extension> EXTENSIONS =
            List.of(TablesExtension.create(), HeadingAnchorExtension.create());
    private static final Pattern TARGET = Pattern.compile("(href|src)=\"([^\":#]+)(#[^\"]*)?\"");
    private static final Pattern TITLE = Pattern.compile("(?m)^# (.+)$");

    private final Parser parser = Parser.builder().extensions(EXTENSIONS).build();
    private final HtmlRenderer renderer =
            HtmlRenderer.builder().extensions(EXTENSIONS).build();
    private final Path checkout;
    private final Set<Path> documents;
    private final String forge;

    Markdown(Path checkout, List<Path> documents, String forge) {
        this.checkout = checkout;
        this.documents = Set.copyOf(documents);
        this.forge = forge;
    }

    /** The root README is the index of the site, that of another folder the index of its folder. */
    static String pageOf(String document) {
        return document.replaceAll("README\\.md$", "index.html").replaceAll("\\.md$", ".html");
    }

    String html(Path document) throws IOException {
        String text = Files.readString(document);
        Node parsed = parser.parse(text);
        Matcher title = TITLE.matcher(text);
        String home = "../".repeat(checkout.relativize(document).getNameCount() - 1);
        return """
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <title>%s</title>
                <style>
                body { max-width: 60rem; margin: 0 auto; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #1d2330; background: #fff }
                nav { border-bottom: 1px solid #ccd; padding-bottom: .5rem }
                pre { background: #f3f4f8; padding: .75rem; overflow-x: auto }
                code { font: .875em ui-monospace, monospace; background: #f3f4f8 }
                table { border-collapse: collapse; display: block; overflow-x: auto }
                th, td { border: 1px solid #ccd; padding: .25rem .5rem; text-align: left; vertical-align: top }
                img { max-width: 100%% }
                @media (prefers-color-scheme: dark) {
                body { color: #e4e6ee; background: #15171d } pre, code { background: #22252e } a { color: #8ab4ff }
                th, td, nav { border-color: #444 }
                }
                </style>
                </head>
                <body>
                <nav><a href="%3$sindex.html">Baton</a> · <a href="%3$sdocs/index.html">Guide</a> ·
                <a href="%3$sapi/kotlin/index.html">Kotlin API</a> · <a href="%3$sapi/java/index.html">Java API</a></nav>
                <main>
                %2$s</main>
                </body>
                </html>
                """.formatted(
                title.find() ? escaped(title.group(1)) : "Baton", linked(document, renderer.render(parsed)), home);
    }

    private String linked(Path document, String html) {
        return TARGET.matcher(html).replaceAll(match -> {
            Path target =
                    document.resolveSibling(match.group(2).replace("%20", " ")).normalize();
            String anchor = match.group(3) == null ? "" : match.group(3);
            return Matcher.quoteReplacement(
                    match.group(1) + "=\"" + address(document, target, match.group(2)) + anchor + "\"");
        });
    }

    private String address(Path document, Path target, String written) {
        if (Files.isDirectory(target) && documents.contains(target.resolve("README.md")))
            target = target.resolve("README.md");
        Path inCheckout = checkout.relativize(target);
        if (documents.contains(target) || target.getParent().equals(checkout.resolve("docs"))) {
            Path from = Path.of(pageOf(checkout.relativize(document).toString()));
            Path to = Path.of(pageOf(inCheckout.toString()));
            return Links.url(from.getParent() == null ? to : from.getParent().relativize(to));
        }
        // A dead link stays as it is, for the check to find.
        return Files.exists(target) ? forge + Links.url(inCheckout) : written;
    }

    private static String escaped(String text) {
        return text.replace("`", "").replace("&", "&amp;").replace("<", "&lt;");
    }
}
