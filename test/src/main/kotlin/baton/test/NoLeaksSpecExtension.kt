package baton.test

import baton.test.assertions.LeakCheck
import io.kotest.core.extensions.TestCaseExtension
import io.kotest.core.test.TestCase
import io.kotest.core.test.TestType
import io.kotest.engine.test.TestResult

/**
 * Lets each test of a Kotest spec fail that leaves something behind at one of [targets], as [assertNoLeaks] has it.
 *
 * ```
 * class ImportSpec : FunSpec({
 *     val uplink = Semaphore(3)
 *     extension(NoLeaksSpecExtension(uplink))
 *     test("…") { … }
 * })
 * ```
 *
 * It looks for a second, in real time, while something is left: threads that the test does not wait for may be at their
 * last step. Tests that use the objects at the same time count as one another's leaks.
 *
 * @param targets as those of [assertNoLeaks].
 * @throws IllegalArgumentException if there are none.
 */
public class NoLeaksSpecExtension(vararg targets: Any) : TestCaseExtension {
    private val targets = LeakCheck.requireObjects(targets.asList())

    override suspend fun intercept(testCase: TestCase, execute: suspend (TestCase) -> TestResult): TestResult {
        if (testCase.type != TestType.Test) return execute(testCase)
        val check = LeakCheck(targets)
        val result = execute(testCase)
        try {
            check.end(result.errorOrNull, LeakCheck.PATIENCE)
        } catch (e: AssertionError) {
            return TestResult.Failure(result.duration, e)
        }
        return result
    }
}
