package baton.test.assertions

import baton.sync.Semaphore
import baton.test.NoLeaksExtension
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.RegisterExtension
import org.junit.platform.engine.TestExecutionResult
import org.junit.platform.engine.discovery.DiscoverySelectors.selectClass
import org.junit.platform.launcher.TestExecutionListener
import org.junit.platform.launcher.TestIdentifier
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder
import org.junit.platform.launcher.core.LauncherFactory

class NoLeaksExtensionTest {
    @Test
    fun testOfJUnit_thatLeavesAPermitBehind_fails() {
        val results = HashMap<String, TestExecutionResult>()
        val request = LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Leaky::class.java))
        val listener =
            object : TestExecutionListener {
                override fun executionFinished(test: TestIdentifier, result: TestExecutionResult) {
                    if (test.isTest) results[test.displayName.removeSuffix("()")] = result
                }
            }
        LauncherFactory.create().execute(request.build(), listener)
        val failures = results.mapValues { (_, result) -> result.throwable.orElse(null) }
        assertEquals(setOf("leaks", "failsAndLeaks", "givesBack", "givesBackAfterwards"), failures.keys)
        assertEquals(listOf(null, null), listOf(failures["givesBack"], failures["givesBackAfterwards"]))
        val left = failures.getValue("leaks")!!.message!!
        assertEquals("  permits held: 2, before: 1", left.lines().last().substringBefore(" ("))
        val both = failures.getValue("failsAndLeaks")!!
        assertEquals(
            listOf("wrong", "left behind:"),
            listOf(both, both.suppressed.last()).map { it.message!!.lines()[0] },
        )
    }

    /** Not found by surefire: its name does not end as those of tests do. */
    class Leaky {
        private val semaphore = Semaphore(9, acquired = 1)

        @JvmField @RegisterExtension val noLeaks = NoLeaksExtension(semaphore)
        private var isHeld = false

        @BeforeEach fun take() = check(semaphore.tryAcquire())

        @AfterEach
        fun giveBack() {
            semaphore.release()
            if (isHeld) semaphore.release()
        }

        @Test fun givesBack() = Unit

        @Test
        fun givesBackAfterwards() {
            isHeld = semaphore.tryAcquire()
        }

        @Test fun leaks() = check(semaphore.tryAcquire())

        @Test
        fun failsAndLeaks() {
            semaphore.tryAcquire()
            error("wrong")
        }
    }
}
