package baton.interop.streams;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.testng.ITestListener;
import org.testng.ITestResult;
import org.testng.TestNG;

/**
 * The TCK of Reactive Streams. TestNG runs it, and each of its rules is a test here; the rules named {@code untested_}
 * have no test. A rule that the TCK skips fails.
 */
class ReactiveStreamsTest {
    @TestFactory
    Stream<DynamicTest> publisher() {
        return run(PublisherRules.class);
    }

    @TestFactory
    Stream<DynamicTest> subscriber() {
        return run(SubscriberRules.class);
    }

    @TestFactory
    Stream<DynamicTest> processor() {
        return run(ProcessorRules.class);
    }

    @TestFactory
    Stream<DynamicTest> map() {
        return run(MapRules.class);
    }

    private static Stream<DynamicTest> run(Class<?> rules) {
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
