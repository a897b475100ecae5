package baton.test.corpus

import baton.test.ExploreScope
import baton.test.explore
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.FieldSource

/** Bugs as they are written in applications: `explore` finds them, and `runTest` does not. */
internal class CorpusTest {
    @ParameterizedTest
    @FieldSource("bugs")
    fun explore_bug_isFoundIn2000Orders(bug: Bug) {
        val error = assertThrows<AssertionError> { explore(RUNS, SEED, bug.cancels) { bug.wrong(this) } }
        assertTrue(bug.failure in error.message!!.lines().first()) { error.message }
    }

    @ParameterizedTest
    @FieldSource("bugs")
    fun explore_programWithoutTheBug_passes2000Orders(bug: Bug) = explore(RUNS, SEED, bug.cancels) { bug.right(this) }

    @Test
    fun runTest_wholeCorpus_findsFewBugs() {
        assertTrue(bugs.size >= 20)
        assertEquals(emptyList<Bug>(), bugs.filter { failureInRunTest(it::right) != null })
        val found = bugs.filter { failureInRunTest(it::wrong) != null }
        assertEquals(IN_EACH_ORDER, found.map { it.name }.toSet())
    }

    private fun failureInRunTest(program: suspend (ExploreScope) -> Unit): Throwable? =
        try {
            val checks = mutableListOf<() -> Unit>()
            runTest(timeout = 5.seconds) { coroutineScope { program(PlainScope(this, checks)) } }
            checks.forEach { it() }
            null
        } catch (e: Throwable) {
            e
        }

    private class PlainScope(scope: CoroutineScope, private val checks: MutableList<() -> Unit>) :
        ExploreScope, CoroutineScope by scope {
        override fun afterwards(check: () -> Unit) {
            checks += check
        }
    }

    private companion object {
        const val RUNS = 2_000
        const val SEED = 53L

        @JvmField val bugs = corpus

        val IN_EACH_ORDER =
            setOf("an update is lost across a suspension", "cache stampede", "a token is refreshed twice")
    }
}
