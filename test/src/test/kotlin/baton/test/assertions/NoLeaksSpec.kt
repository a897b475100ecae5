package baton.test.assertions

import baton.sync.Semaphore
import baton.test.NoLeaksSpecExtension
import io.kotest.core.extensions.TestCaseExtension
import io.kotest.core.spec.style.FunSpec
import io.kotest.core.test.TestCase
import io.kotest.engine.test.TestResult
import org.junit.jupiter.api.Assertions.assertEquals

/** The outer extension sees the results that the one under test makes, and expects what the name of the test says. */
class NoLeaksSpec :
    FunSpec({
        val semaphore = Semaphore(9)
        extensions(Expected, NoLeaksSpecExtension(semaphore))

        test("passes") { semaphore.acquire().also { semaphore.release() } }

        test("fails: left behind:") { semaphore.acquire() }

        test("fails: wrong") {
            semaphore.acquire()
            error("wrong")
        }

        context("a container") { test("fails: left behind:") { semaphore.acquire() } }
    }) {
    private object Expected : TestCaseExtension {
        override suspend fun intercept(testCase: TestCase, execute: suspend (TestCase) -> TestResult): TestResult {
            val result = execute(testCase)
            val expected = testCase.name.name.substringAfter("fails: ", missingDelimiterValue = "")
            val error = result.errorOrNull
            assertEquals(expected, error?.message?.lines()?.first().orEmpty())
            if (expected == "wrong") assertEquals(1, error!!.suppressed.size)
            return TestResult.Success(result.duration)
        }
    }
}
