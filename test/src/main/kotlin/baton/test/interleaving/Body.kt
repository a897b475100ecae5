package baton.test.interleaving

import kotlinx.coroutines.CoroutineScope

/** The code of a run. Adds the checks that follow it to the list that it gets. */
internal fun interface Body {
    suspend fun CoroutineScope.run(checks: MutableList<() -> Unit>)
}
