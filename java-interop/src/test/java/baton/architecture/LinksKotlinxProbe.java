package baton.architecture;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.VersionKotlinxProbe;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * All that our classes use of kotlinx.coroutines exists in its older versions too. Where the compiler calls what only the
 * newest one has, the code compiles and fails at its first call: {@code job.cancel()} links to {@code Job.cancel$default},
 * which is new in 1.11, and {@code job.cancel(null)} to a method of all versions.
 */
class LinksKotlinxProbe extends VersionKotlinxProbe {
    private static final JavaClasses CLASSES = BatonClasses.imported();

    @Test
    void membersThatAreUsed_exist() {
        Set<JavaAccess<?>> uses = CLASSES.stream()
                .flatMap(type -> type.getAccessesFromSelf().stream())
                .filter(use -> isKotlinx(use.getTargetOwner()))
                .collect(toSet());
        assertTrue(uses.size() > 300, () -> "only " + uses.size());
        Set<String> missing = uses.stream()
                .filter(use -> use.getTarget().resolveMember().isEmpty())
                .map(JavaAccess::getDescription)
                .collect(toCollection(TreeSet::new));
        assertEquals(Set.of(), missing);
    }

    /** An interface of a newer version may have a body where that of an older one has none. */
    @Test
    void interfacesThatAreImplemented_areComplete() {
        Set<String> missing = CLASSES.stream()
                .filter(type -> type.getAllRawInterfaces().stream().anyMatch(LinksKotlinxProbe::isKotlinx))
                .map(JavaClass::reflect)
                .filter(type -> !Modifier.isAbstract(type.getModifiers()))
                .flatMap(LinksKotlinxProbe::abstractMethods)
                .collect(toCollection(TreeSet::new));
        assertEquals(Set.of(), missing);
    }

    private static Stream<String> abstractMethods(Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(method -> Modifier.isAbstract(method.getModifiers()))
                .map(Method::toGenericString)
                .map(method -> type.getName() + " lacks " + method);
    }

    private static boolean isKotlinx(JavaClass type) {
        return type.getPackageName().startsWith("kotlinx.coroutines");
    }
}
