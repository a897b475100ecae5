package baton.test.interleaving

import kotlinx.coroutines.CoroutineScope

/** What a run runs: adds the checks that follow it to the list that it gets. */
internal fun interface Body {
    suspend fun CoroutineScope.run(checks: MutableList<() -> Unit>)
}
