import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.w3c.dom.Element;

/** The bill of materials names each library of the POM, and each component of it has a licence that the list allows. */
final class SbomCheck {
    private SbomCheck() {}

    static List<String> faults(Bundle bundle, String artifact, Set<String> allowed) throws IOException {
        Path file = bundle.file(artifact, "-cyclonedx.xml");
        Path pom = bundle.file(artifact, ".pom");
        if (!Files.exists(file) || !Files.exists(pom)) return List.of();
        List<String> faults = new ArrayList<>();
        Element sbom = Xml.root(file);
        if (!Xml.text(sbom, "metadata/component/version").equals(bundle.version())) faults.add("wrong version");
        Set<String> names = new TreeSet<>();
        for (Element component : Xml.all(sbom, "components/component")) {
            names.add(Xml.text(component, "name"));
            if (licences(component).stream().noneMatch(allowed::contains)) {
                faults.add(Xml.text(component, "name") + ": licence " + licences(component) + " is not in the list");
            }
        }
        for (Element dependency : Xml.all(Xml.root(pom), "dependencies/dependency")) {
            String name = Xml.text(dependency, "artifactId");
            if (!names.contains(name)) faults.add(name + " is missing");
        }
        return faults.stream().map(fault -> file.getFileName() + ": " + fault).toList();
    }

    /** Returns the components of an artifact with their licences, a line each. */
    static Set<String> lines(Bundle bundle, String artifact) throws IOException {
        return Xml.all(Xml.root(bundle.file(artifact, "-cyclonedx.xml")), "components/component").stream()
                .filter(component -> !Xml.text(component, "group").equals(Bundle.GROUP))
                .map(component -> Xml.text(component, "group") + ":" + Xml.text(component, "name") + ":"
                        + Xml.text(component, "version") + "  " + String.join(" or ", licences(component)))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Several mean that the user chooses. */
    private static List<String> licences(Element component) {
        List<String> found = new ArrayList<>();
        for (String path : List.of("licenses/license/id", "licenses/license/name", "licenses/expression")) {
            Xml.all(component, path).forEach(element -> found.add(element.getTextContent().strip()));
        }
        return found;
    }
}
