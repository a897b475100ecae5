package baton.test

import baton.test.assertions.LeakCheck
import org.junit.jupiter.api.extension.AfterEachCallback
import org.junit.jupiter.api.extension.BeforeEachCallback
import org.junit.jupiter.api.extension.ExtensionContext

/**
 * Lets each test of a JUnit class fail that leaves something behind at one of [targets], as
 * `BatonAssertions.assertNoLeaks` has it. For JUnit 5.12 and newer, and 6.
 *
 * ```
 * private final AsyncSemaphore uplink = AsyncSemaphore.create(3);
 *
 * @RegisterExtension
 * final NoLeaksExtension noLeaks = new NoLeaksExtension(uplink);
 * ```
 *
 * In Kotlin the field is a `@JvmField @RegisterExtension val`.
 *
 * It looks before the `@BeforeEach` methods of the class, and after its `@AfterEach` methods. Then it looks for a
 * second, in real time, while something is left: threads that the test does not wait for may be at their last step.
 * Tests that use the objects at the same time count as one another's leaks.
 *
 * @param targets as those of [assertNoLeaks].
 * @throws IllegalArgumentException if there are none.
 */
public class NoLeaksExtension(vararg targets: Any) : BeforeEachCallback, AfterEachCallback {
    private val targets = LeakCheck.requireObjects(targets.asList())

    override fun beforeEach(context: ExtensionContext) {
        context.getStore(OURS).put(this, LeakCheck(targets))
    }

    override fun afterEach(context: ExtensionContext) {
        val check = context.getStore(OURS).remove(this, LeakCheck::class.java)
        check?.end(patienceNanos = LeakCheck.PATIENCE)
    }

    private companion object {
        val OURS: ExtensionContext.Namespace = ExtensionContext.Namespace.create(NoLeaksExtension::class.java)
    }
}
