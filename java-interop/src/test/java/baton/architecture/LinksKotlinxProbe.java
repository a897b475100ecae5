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
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The types and members of kotlin-stdlib, kotlinx.coroutines and Micrometer to which our classes link exist in their older
 * versions too. Where the compiler calls what only the newest one has, the code compiles and fails at its first call:
 * {@code job.cancel()} links to {@code Job.cancel$default}, which is new in kotlinx.coroutines 1.11, and
 * {@code job.cancel(null)} to a method of all versions; suspending code of language level 2.2 links to {@code SpillingKt},
 * which is new in kotlin-stdlib 2.2.
 */
@Tag("any-jdk")
class LinksKotlinxProbe extends VersionKotlinxProbe {
    private static final JavaClasses CLASSES = BatonClasses.imported();
    private static final Pattern FOREIGN = Pattern.compile("^(kotlin|kotlinx\\.coroutines|io\\.micrometer)\\.");

    @Test
    void modules_areAllRead() {
        for (String module : List.of(
                "baton.sync",
                "baton.shared",
                "baton.distributed",
                "baton.distributed.redis",
                "baton.scheduler",
                "baton.micrometer",
                "baton.test",
                "baton.interop")) {
            assertTrue(CLASSES.stream().anyMatch(type -> type.getPackageName().equals(module)), module);
        }
    }

    @Test
    void typesThatAreUsed_exist() {
        Set<JavaClass> used = CLASSES.stream()
                .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                .map(dependency -> dependency.getTargetClass().getBaseComponentType())
                .filter(LinksKotlinxProbe::isForeign)
                .collect(toSet());
        assertTrue(used.size() > 150, () -> "only " + used.size());
        assertNone(used.stream().filter(type -> !type.isFullyImported()).map(JavaClass::getName));
    }

    /** Those that a class of ours inherits, too. */
    @Test
    void membersThatAreUsed_exist() {
        Set<JavaAccess<?>> uses = CLASSES.stream()
                .flatMap(type -> type.getAccessesFromSelf().stream())
                .filter(use -> isOrExtendsForeign(use.getTargetOwner()))
                .collect(toSet());
        assertTrue(uses.size() > 2000, () -> "only " + uses.size());
        assertNone(uses.stream()
                .filter(use -> use.getTarget().resolveMember().isEmpty())
                .map(JavaAccess::getDescription));
    }

    /** A method of a newer version may have a body where that of an older one has none. */
    @Test
    void publicMethodsThatAreInherited_haveBodies() {
        List<Class<?>> types = CLASSES.stream()
                .filter(LinksKotlinxProbe::isOrExtendsForeign)
                .<Class<?>>map(JavaClass::reflect)
                .filter(type -> !Modifier.isAbstract(type.getModifiers()))
                .toList();
        assertTrue(types.size() > 20, () -> "only " + types);
        assertNone(types.stream().flatMap(LinksKotlinxProbe::abstractMethods));
    }

    /**
     * A default method of a newer version may be an abstract one in an older. Kotlin writes a method into each class that
     * inherits one, which calls it by {@code super}: so the class has a body that fails.
     */
    @Test
    void interfaceMethodsThatAreCalledBySuper_haveBodies() {
        Set<String> faults = new TreeSet<>();
        for (JavaClass type : CLASSES) {
            if (!isOrExtendsForeign(type)) continue;
            for (SuperCalls.Call call : SuperCalls.of(type.reflect())) {
                if (FOREIGN.matcher(call.owner()).find() && call.isAbstract()) faults.add(type.getName() + " " + call);
            }
        }
        assertNone(faults.stream());
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

    private static boolean isOrExtendsForeign(JavaClass type) {
        return isForeign(type)
                || type.getAllRawSuperclasses().stream().anyMatch(LinksKotlinxProbe::isForeign)
                || type.getAllRawInterfaces().stream().anyMatch(LinksKotlinxProbe::isForeign);
    }

    private static boolean isForeign(JavaClass type) {
        return FOREIGN.matcher(type.getName()).find();
    }
}
