package samples.support.uptime;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import samples.support.TextFile;

/**
 * The HTML file of the page, and the policy that lets no other script run in it.
 *
 * @param policy the header Content-Security-Policy, which names the style and the script by their hashes
 */
record PageFile(byte[] bytes, String policy) {
    static PageFile read(String name) {
        String html = String.join("\n", TextFile.shipped(name)) + "\n";
        String policy = "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                + "frame-ancestors 'none'; style-src " + hash(html, "style") + "; script-src " + hash(html, "script");
        return new PageFile(html.getBytes(StandardCharsets.UTF_8), policy);
    }

    /** Of the only element of this kind. */
    private static String hash(String html, String element) {
        int begin = html.indexOf("<" + element + ">") + element.length() + 2;
        String content = html.substring(begin, html.indexOf("</" + element + ">"));
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
            return "'sha256-" + Base64.getEncoder().encodeToString(hash) + "'";
        } catch (NoSuchAlgorithmException never) { // every JDK has it
            throw new AssertionError(never);
        }
    }
}
