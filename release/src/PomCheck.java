import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.w3c.dom.Element;

/** A POM has the elements that the public repository asks for, and depends on nothing that users could not resolve. */
final class PomCheck {
    private static final List<String> REQUIRED = List.of(
            "name",
            "description",
            "url",
            "licenses/license/name",
            "licenses/license/url",
            "developers/developer/name",
            "developers/developer/url",
            "scm/url",
            "scm/connection");

    /** Elements that are of use to our build alone, or would slow that of users. */
    private static final List<String> FORBIDDEN =
            List.of("parent", "build", "profiles", "repositories", "pluginRepositories", "distributionManagement");

    private PomCheck() {}

    static List<String> faults(Bundle bundle, String artifact) throws IOException {
        Path file = bundle.file(artifact, ".pom");
        if (!Files.exists(file)) return List.of();
        Element pom = Xml.root(file);
        List<String> faults = new ArrayList<>();
        for (String path : REQUIRED) if (Xml.text(pom, path).isEmpty()) faults.add("no " + path);
        for (String path : FORBIDDEN) if (!Xml.all(pom, path).isEmpty()) faults.add(path + " is not to be published");
        if (!Xml.text(pom, "groupId").equals(Bundle.GROUP)) faults.add("wrong groupId");
        if (!Xml.text(pom, "artifactId").equals(artifact)) faults.add("wrong artifactId");
        if (!Xml.text(pom, "version").equals(bundle.version())) faults.add("wrong version");
        if (Files.readString(file).contains("SNAPSHOT")) faults.add("names a SNAPSHOT");
        for (Element dependency : Xml.all(pom, "dependencies/dependency")) {
            String name = Xml.text(dependency, "artifactId");
            String scope = Xml.text(dependency, "scope");
            boolean isPublished = Set.of("", "compile", "runtime").contains(scope);
            if (!isPublished) faults.add("dependency " + name + ": scope " + scope);
            if (Xml.text(dependency, "type").equals("test-jar")) faults.add("dependency " + name + ": a jar of tests");
            if (Xml.text(dependency, "version").isEmpty()) faults.add("dependency " + name + ": no version");
        }
        if (artifact.equals(Bundle.BOM)) faults.addAll(managed(bundle, pom));
        return faults.stream().map(fault -> file.getFileName() + ": " + fault).toList();
    }

    private static List<String> managed(Bundle bundle, Element bom) throws IOException {
        Set<String> expected = bundle.artifacts();
        expected.remove(Bundle.BOM);
        Set<String> found = new TreeSet<>();
        List<String> faults = new ArrayList<>();
        for (Element dependency : Xml.all(bom, "dependencyManagement/dependencies/dependency")) {
            found.add(Xml.text(dependency, "artifactId"));
            String version = Xml.text(dependency, "version");
            boolean isOurs = Set.of(bundle.version(), "${project.version}").contains(version);
            if (!isOurs) faults.add("manages version " + version);
        }
        if (!found.equals(expected)) faults.add("manages " + found + ", published are " + expected);
        return faults;
    }
}
