import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

/** Elements of an XML file by their paths, without namespaces. */
final class Xml {
    private Xml() {}

    static Element root(Path file) throws IOException {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            return factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement();
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(file + " is no XML", e);
        }
    }

    /** Returns the elements that a path like {@code licenses/license} leads to. */
    static List<Element> all(Element from, String path) {
        List<Element> found = List.of(from);
        for (String name : path.split("/")) {
            List<Element> next = new ArrayList<>();
            for (Element element : found) {
                for (Node node = element.getFirstChild(); node != null; node = node.getNextSibling()) {
                    if (node instanceof Element child && child.getTagName().equals(name)) next.add(child);
                }
            }
            found = next;
        }
        return found;
    }

    /** Returns the text of the first such element, empty if there is none. */
    static String text(Element from, String path) {
        List<Element> found = all(from, path);
        return found.isEmpty() ? "" : found.get(0).getTextContent().strip();
    }
}
