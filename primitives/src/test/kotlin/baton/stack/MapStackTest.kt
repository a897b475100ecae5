package baton.stack

import baton.parallel.contract.FlowFace
import baton.parallel.contract.IterableFace
import baton.parallel.mapLimit
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Many elements that end at once, or after a moment, and maps within maps. Runs with a small stack. */
class MapStackTest : StackRun() {
    private fun assertMapped(world: World, transform: suspend (Int) -> Int) {
        for ((face, count) in listOf(IterableFace to 50_000, FlowFace to 20_000)) {
            var mapped: List<Int>? = null
            start(world.context) { mapped = face.mapLimit((0 until count).asSequence(), 8, transform = transform) }
            assertEquals(count, mapped?.size)
        }
        assertEquals(2, done)
    }

    /** Without a dispatcher, kotlinx.coroutines takes the default one, and the test would not see the end. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = ["NO_DISPATCHER"])
    fun elements_endAtOnce(world: World) = assertMapped(world) { it }

    @Test fun elements_yield() = assertMapped(World.UNCONFINED) { it.also { yield() } }

    /** A dispatcher that runs in place nested each worker within the one before it. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = ["NO_DISPATCHER"])
    fun elements_suspendUnderAGreatLimit(world: World) {
        for (face in listOf(IterableFace, FlowFace)) {
            val opened = CompletableDeferred<Unit>()
            val started = mutableListOf<Int>()
            var mapped: List<Int>? = null
            start(world.context) {
                mapped =
                    face.mapLimit((0 until 2 * WIDE).asSequence(), WIDE) {
                        started += it
                        opened.await()
                        it
                    }
            }
            assertEquals(List(WIDE) { it }, started)
            opened.complete(Unit)
            assertEquals(List(2 * WIDE) { it }, mapped)
        }
    }

    /** Each of them ends its worker, which another one replaces. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = ["NO_DISPATCHER"])
    fun elements_cancelTheirOwnJob(world: World) {
        for (face in listOf(IterableFace, FlowFace)) {
            var mapped: List<Int>? = null
            start(world.context) {
                mapped =
                    face.mapLimit((0 until WIDE).asSequence(), 3) { it.also { currentCoroutineContext().cancel() } }
            }
            assertEquals(List(WIDE) { it }, mapped)
        }
    }

    @Test
    fun maps_insideMaps() {
        suspend fun nested(depth: Int): Int =
            if (depth == 0) 0 else listOf(depth).mapLimit(2) { nested(depth - 1) + 1 }.single()
        var depth = 0
        start(World.UNCONFINED.context) { depth = nested(50) }
        assertEquals(50, depth)
    }

    private companion object {
        const val WIDE = 10_000
    }
}
