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
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The types and members of kotlinx.coroutines to which our classes link exist in its older versions too. Where the compiler
 * calls what only the newest one has, the code compiles and fails at its first call: {@code job.cancel()} links to
 * {@code Job.cancel$default}, which is new in 1.11, and {@code job.cancel(null)} to a method of all versions.
 */
class LinksKotlinxProbe extends VersionKotlinxProbe {
    private static final JavaClasses CLASSES = BatonClasses.imported();

    @Test
    void modules_areAllRead() {
        for (String module : List.of("baton.sync", "baton.scheduler", "baton.micrometer", "baton.interop")) {
            assertTrue(CLASSES.stream().anyMatch(type -> type.getPackageName().equals(module)), module);
        }
    }

    @Test
    void typesThatAreUsed_exist() {
        Set<JavaClass> used = CLASSES.stream()
                .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                .filter(LinksKotlinxProbe::isKotlinx)
                .collect(toSet());
        assertTrue(used.size() > 40, () -> "only " + used.size());
        assertNone(used.stream().filter(type -> !type.isFullyImported()).map(JavaClass::getName));
    }

    /** Those that a class of ours inherits, too. */
    @Test
    void membersThatAreUsed_exist() {
        Set<JavaAccess<?>> uses = CLASSES.stream()
                .flatMap(type -> type.getAccessesFromSelf().stream())
                .filter(use -> isOrExtendsKotlinx(use.getTargetOwner()))
                .collect(toSet());
        assertTrue(uses.size() > 300, () -> "only " + uses.size());
        assertNone(uses.stream()
                .filter(use -> use.getTarget().resolveMember().isEmpty())
                .map(JavaAccess::getDescription));
    }

    /** A method of a newer version may have a body where that of an older one has none. */
    @Test
    void publicMethodsThatAreInherited_haveBodies() {
        List<Class<?>> types = CLASSES.stream()
                .filter(LinksKotlinxProbe::isOrExtendsKotlinx)
                .<Class<?>>map(JavaClass::reflect)
                .filter(type -> !Modifier.isAbstract(type.getModifiers()))
                .toList();
        assertTrue(types.size() > 20, () -> "only " + types);
        assertNone(types.stream().flatMap(LinksKotlinxProbe::abstractMethods));
    }

    private static void assertNone(Stream<String> faults) {
        assertEquals(Set.of(), faults.collect(toCollection(TreeSet::new)));
    }

    private static Stream<String> abstractMethods(Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(method -> Modifier.isAbstract(method.getModifiers()))
                .map(Method::toGenericString)
                .map(method -> type.getName() + " lacks " + method);
    }

    private static boolean isOrExtendsKotlinx(JavaClass type) {
        return isKotlinx(type)
                || type.getAllRawSuperclasses().stream().anyMatch(LinksKotlinxProbe::isKotlinx)
                || type.getAllRawInterfaces().stream().anyMatch(LinksKotlinxProbe::isKotlinx);
    }

    private static boolean isKotlinx(JavaClass type) {
        return type.getPackageName().startsWith("kotlinx.coroutines");
    }
}
