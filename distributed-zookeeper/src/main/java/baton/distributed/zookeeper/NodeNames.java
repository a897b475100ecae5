package baton.distributed.zookeeper;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Names of nodes for any text: a path has no slash in a name, and neither "." nor "..". Colons stay readable. */
final class NodeNames {
    private NodeNames() {}

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8)
                .replace("%3A", ":")
                .replace(".", "%2E");
    }

    static String decode(String name) {
        return URLDecoder.decode(name, StandardCharsets.UTF_8);
    }
}
