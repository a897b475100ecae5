package guide.migrating

import baton.channels.*
import kotlinx.coroutines.channels.*
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Why the documents tell users to import ours by name. */
class StarImportsTest {
    @Test
    fun channel_underBothStarImports_isTheirs() {
        val theirs: kotlinx.coroutines.channels.Channel<Int> = Channel<Int>(1)
        assertTrue(theirs.trySend(1).isSuccess)
    }
}
