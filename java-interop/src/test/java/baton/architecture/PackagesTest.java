package baton.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Enforces the diagram of CONTRIBUTING.md: the packages that each package may use, and those that users may use. */
@Tag("any-jdk")
class PackagesTest {
    private static final JavaClasses CLASSES = BatonClasses.imported();

    /** A name with two dots at its end stands for a package with its subpackages. */
    @ParameterizedTest
    @CsvSource({
        // BatonClock names the clocks of this machine.
        "baton,            baton baton.waiting.clock",
        "baton.files,      baton baton.files",
        "baton.waiting.flight,    baton baton.waiting.flight",
        "baton.waiting.threads,   baton baton.waiting.threads",
        "baton.waiting.clock,     baton baton.waiting.threads baton.waiting.clock",
        "baton.waiting,           baton baton.waiting.threads baton.waiting.clock baton.waiting.flight baton.waiting",
        "baton.waiting.coroutine, baton baton.waiting.threads baton.waiting.flight baton.waiting baton.waiting.coroutine",
        "baton.waiting.keys,      baton baton.waiting.threads baton.waiting.clock baton.waiting baton.waiting.keys",
        "baton.waiting.holders,   baton baton.waiting.threads baton.waiting baton.waiting.holders",
        "baton.monitoring.., baton baton.waiting.threads baton.waiting.clock baton.waiting baton.waiting.keys baton.waiting.holders baton.monitoring..",
        "baton.sync..,     baton baton.waiting.. baton.monitoring.. baton.sync..",
        "baton.channels.., baton baton.waiting.. baton.monitoring.. baton.channels..",
        "baton.tasks..,    baton baton.waiting.. baton.tasks..",
        "baton.parallel.., baton baton.waiting.. baton.monitoring.. baton.sync.. baton.channels.. baton.parallel..",
        "baton.resilience.., baton baton.waiting.. baton.monitoring.. baton.resilience..",
        "baton.shared..,   baton baton.files baton.waiting.. baton.sync.. baton.bridge baton.shared..",
        "baton.distributed.., baton baton.waiting.. baton.monitoring.. baton.sync.. baton.resilience baton.bridge baton.distributed..",
        "baton.batch..,    baton baton.waiting.clock baton.monitoring.. baton.parallel.. baton.resilience.. baton.batch..",
        "baton.micrometer.., baton baton.waiting.. baton.monitoring.. baton.resilience baton.micrometer..",
        "baton.test..,     baton baton.waiting.. baton.monitoring.. baton.sync.. baton.channels.. baton.tasks.. baton.parallel.. baton.resilience.. baton.batch.. baton.bridge baton.scheduler.. baton.distributed baton.distributed.bridge baton.test..",
        "baton.bridge..,   baton baton.waiting.. baton.monitoring.. baton.sync.. baton.channels.. baton.tasks.. baton.parallel.. baton.resilience.. baton.batch.. baton.bridge..",
        "baton.scheduler.., baton baton.files baton.waiting.. baton.monitoring.. baton.sync.. baton.channels.. baton.tasks.. baton.resilience.. baton.bridge baton.scheduler..",
    })
    void package_knowsOnlyWhatStandsBelowIt(String room, String known) {
        DescribedPredicate<JavaClass> strangers =
                resideInAPackage("baton..").and(not(resideInAnyPackage(known.split(" "))));
        noClasses()
                .that()
                .resideInAPackage(room)
                .should()
                .dependOnClassesThat(strangers)
                .check(CLASSES);
    }

    /**
     * A primitive knows its core. A core does not know its primitive: of the package above it, it knows exceptions, and
     * values such as enums and configurations. Primitives implement {@code Monitored}, by which a core names its own. The
     * locks and permits that a core between processes grants are the state of one acquisition.
     */
    @ParameterizedTest
    @CsvSource({
        "baton.sync, BarrierBrokenException BarrierTimeoutException ReadWritePolicy SemaphoreClosedException WaitOrder",
        "baton.channels, ChannelClosedException ChannelOrder OnFull",
        "baton.tasks, TeardownTimeoutException",
        "baton.parallel, Outcome",
        "baton.batch, BatchProgress BatchReport ConcurrencyConfig",
        "baton.resilience, Backoff BreakerState CircuitBreakerConfig CircuitBreakerMetrics CircuitOpenException Hedge Jitter"
                + " Rate RateLimitedException RateLimiterClosedException RateLimiterMetrics ResultNotAcceptedException"
                + " RetryAttempt RetryBudget RetryPolicy SlidingWindow",
        "baton.distributed, CasAnswer CoordinationStore Lease LeaseLostException LockHolder OutcomeUnknownException StoreUnavailableException"
                + " StoredDocument",
        "baton.shared, AbandonedException SharedLock SharedPermit SharedRegionException",
        "baton.monitoring, Alert AlertRules CallEvent Deadlock Monitored Usage",
        "baton.micrometer, ''",
        "baton.test, ''",
    })
    void innerPackages_knowOnlyValuesOfTheirRoom(String room, String values) {
        Set<String> known = Set.of(values.split(" "));
        DescribedPredicate<JavaClass> strangers = DescribedPredicate.describe(
                "are none of " + values,
                type -> type.getPackageName().equals(room) && !known.contains(outermost(type)));
        noClasses()
                .that()
                .resideInAPackage(room + ".*..")
                .and()
                .resideOutsideOfPackage(room + ".bridge")
                .should()
                .dependOnClassesThat(strangers)
                .check(CLASSES);
    }

    private static String outermost(JavaClass type) {
        String name = type.getName().substring(type.getPackageName().length() + 1);
        return name.replaceFirst("\\$.*", "");
    }

    @Test
    void packages_haveNoCycle() {
        slices().matching("baton.(*)..").should().beFreeOfCycles().check(CLASSES);
        slices().matching("baton.interop.internal.(*)")
                .should()
                .beFreeOfCycles()
                .check(CLASSES);
    }

    /** Files that depend on each other in a circle can only be read together. */
    @Test
    void filesOfTheFacade_formNoLargeCircle() {
        Map<String, Set<String>> known = new TreeMap<>();
        for (JavaClass type : CLASSES.that(resideInAPackage("baton.interop..")))
            for (Dependency arrow : type.getDirectDependenciesFromSelf()) {
                JavaClass target = arrow.getTargetClass().getBaseComponentType();
                if (resideInAPackage("baton.interop..").test(target))
                    known.computeIfAbsent(file(type), name -> new TreeSet<>()).add(file(target));
            }
        for (String file : known.keySet()) {
            Set<String> circle = reachedFrom(file, known);
            circle.removeIf(other -> !reachedFrom(other, known).contains(file));
            assertTrue(circle.size() <= 7, () -> circle.size() + " files in a circle: " + circle);
        }
    }

    private static String file(JavaClass type) {
        return type.getPackageName() + "." + outermost(type);
    }

    private static Set<String> reachedFrom(String file, Map<String, Set<String>> known) {
        Set<String> reached = new TreeSet<>();
        Deque<String> next = new ArrayDeque<>(Set.of(file));
        while (!next.isEmpty())
            for (String target : known.getOrDefault(next.pop(), Set.of())) if (reached.add(target)) next.push(target);
        return reached;
    }

    /** Select, cancellation, threads and maps share the package {@code futures}, and do not depend on each other. */
    @ParameterizedTest
    @CsvSource({
        "futures, select cancel blocking parallel",
        "select, cancel blocking parallel",
        "cancel, select blocking parallel",
        "blocking, select cancel parallel",
        "parallel, select cancel blocking"
    })
    void internalPackagesOfTheFacade_knowNoOther(String room, String unknown) {
        String internal = "baton.interop.internal.";
        String[] strangers = Stream.of(unknown.split(" ")).map(internal::concat).toArray(String[]::new);
        noClasses()
                .that()
                .resideInAPackage(internal + room)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(strangers)
                .check(CLASSES);
    }

    /**
     * A {@code when} over an enum has such a class, which the JVM loads at its first use. A core may be under a lock
     * then; the classes named here are not.
     */
    @Test
    void cores_decideWithoutAWhenOverAnEnum() {
        noClasses()
                .that()
                .resideInAnyPackage("baton.sync..", "baton.channels..", "baton.waiting..")
                .and()
                .haveNameNotMatching(".*\\.(Channel|Mutex|ReadWriteLock|ReadWriteRefusal)\\$.*")
                .should()
                .haveNameMatching(".*\\$WhenMappings")
                .check(CLASSES);
    }

    @Test
    void exportedPackages_areThoseForUsers() {
        Set<String> exported = ModuleFinder.of(BatonClasses.MODULES.toArray(Path[]::new)).findAll().stream()
                .map(module -> module.descriptor().exports())
                .flatMap(Set::stream)
                .filter(export -> !export.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(
                Set.of(
                        "baton",
                        "baton.sync",
                        "baton.channels",
                        "baton.distributed",
                        "baton.distributed.redis",
                        "baton.tasks",
                        "baton.batch",
                        "baton.micrometer",
                        "baton.monitoring",
                        "baton.parallel",
                        "baton.resilience",
                        "baton.shared",
                        "baton.scheduler",
                        "baton.test",
                        "baton.interop"),
                exported);
    }
}
