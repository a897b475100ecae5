package baton.interop.streams;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.testng.ITestListener;
import org.testng.ITestResult;
import org.testng.TestNG;

/**
 * The TCK of Reactive Streams. TestNG runs it, and each of its rules is a test here; the rules named {@code untested_}
 * have no test. A rule that the TCK skips fails.
 */
@Tag("any-jdk")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReactiveStreamsTest {
    private final Map<Class<?>, FutureTask<List<ITestResult>>> runs = new HashMap<>();

    /**
     * Runs all at once, as most rules wait for a signal that must not come. Each class has an engine of its own, because
     * TestNG's {@code parallel="classes"} would also run inherited rules of one class at once.
     */
    @BeforeAll
    void runAll() {
        for (var rules : List.of(PublisherRules.class, SubscriberRules.class, ProcessorRules.class, MapRules.class)) {
            FutureTask<List<ITestResult>> task = new FutureTask<>(() -> run(rules));
            runs.put(rules, task);
            Thread thread = new Thread(task, rules.getSimpleName());
            thread.setDaemon(true);
            thread.start();
        }
    }

    @TestFactory
    Stream<DynamicTest> publisher() throws Exception {
        return testsOf(PublisherRules.class);
    }

    @TestFactory
    Stream<DynamicTest> subscriber() throws Exception {
        return testsOf(SubscriberRules.class);
    }

    @TestFactory
    Stream<DynamicTest> processor() throws Exception {
        return testsOf(ProcessorRules.class);
    }

    @TestFactory
    Stream<DynamicTest> map() throws Exception {
        return testsOf(MapRules.class);
    }

    private static List<ITestResult> run(Class<?> rules) {
        List<ITestResult> results = new ArrayList<>();
        TestNG engine = new TestNG(false);
        engine.setVerbose(0);
        engine.setTestClasses(new Class<?>[] {rules});
        engine.addListener(new ITestListener() {
            @Override
            public void onTestSuccess(ITestResult result) {
                results.add(result);
            }

            @Override
            public void onTestFailure(ITestResult result) {
                results.add(result);
            }

            @Override
            public void onTestSkipped(ITestResult result) {
                results.add(result);
            }
        });
        engine.run();
        return results;
    }

    private Stream<DynamicTest> testsOf(Class<?> rules) throws Exception {
        List<ITestResult> results = runs.get(rules).get();
        List<ITestResult> verified = results.stream()
                .filter(result -> !result.getName().startsWith("untested_") && !isMulticast(result.getName()))
                .toList();
        assertTrue(verified.size() > 10, () -> results.size() + " rules");
        return verified.stream()
                .map(result -> DynamicTest.dynamicTest(result.getName(), () -> {
                    if (result.getStatus() != ITestResult.SUCCESS) throw result.getThrowable();
                }));
    }

    /** A rule for several subscribers that each get all elements; the subscribers of a channel share them. */
    private static boolean isMulticast(String rule) {
        return rule.startsWith("optional_spec111_multicast_")
                || rule.equals("required_mustRequestFromUpstreamForElementsThatHaveBeenRequestedLongAgo")
                || rule.equals("required_spec104_mustCallOnErrorOnAllItsSubscribersIfItEncountersANonRecoverableError");
    }
}
