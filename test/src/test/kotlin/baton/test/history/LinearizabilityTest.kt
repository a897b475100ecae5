package baton.test.history

import baton.distributed.CasAnswer
import baton.distributed.StoredDocument
import baton.test.history.DocumentModel.Delete
import baton.test.history.DocumentModel.Input
import baton.test.history.DocumentModel.Read
import baton.test.history.DocumentModel.Write
import java.lang.management.ManagementFactory
import java.util.Optional
import java.util.PriorityQueue
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The checker of histories, on histories that are written by hand or made from a seed. */
class LinearizabilityTest {
    private val checker = Linearizability(DocumentModel)
    private val stored = CasAnswer.stored()
    private val one = StoredDocument(1, "\"one\"")
    private val two = StoredDocument(2, "\"two\"")

    private fun violationOf(vararg calls: RecordedCall<Input, Any>) = checker.violationOf(calls.toList())

    private fun call(input: Input, begin: Long, end: Long, output: Any?) = RecordedCall(input, begin, output, end)

    @Test
    fun callsOneAfterTheOther_fit() =
        assertNull(
            violationOf(
                call(Read, 0, 1, Optional.empty<Any>()),
                call(Write(0, one), 2, 3, stored),
                call(Write(0, two), 4, 5, CasAnswer.conflict(Optional.of(one))),
                call(Write(1, two), 6, 7, stored),
                call(Delete(1), 8, 9, false),
                call(Delete(2), 10, 11, true),
                call(Read, 12, 13, Optional.empty<Any>()),
            )
        )

    @Test
    fun callsAtOneTime_fitInAnyOrder() =
        assertNull(
            violationOf(
                call(Read, 0, 9, Optional.of(two)),
                call(Write(1, two), 0, 9, stored),
                call(Write(0, one), 0, 9, stored),
            )
        )

    @Test
    fun readOfAnOldDocument_doesNotFit() =
        assertNotNull(violationOf(call(Write(0, one), 0, 1, stored), call(Read, 2, 3, Optional.empty<Any>())))

    @Test
    fun twoWritesOfOneVersion_doNotFit() =
        assertNotNull(violationOf(call(Write(0, one), 0, 9, stored), call(Write(0, two), 0, 9, stored)))

    @Test
    fun writeOfUnknownOutcome_mayHappenLaterOrNever() {
        val unknown = call(Write(0, one), 0, 1, null)
        assertNull(violationOf(unknown, call(Read, 2, 3, Optional.empty<Any>()), call(Read, 4, 5, Optional.of(one))))
        assertNull(violationOf(unknown, call(Read, 2, 3, Optional.empty<Any>())))
    }

    @Test
    fun writeOfUnknownOutcome_happensOnce_andNotBeforeItsBegin() {
        val unknown = call(Write(0, one), 2, 3, null)
        assertNotNull(violationOf(unknown, call(Read, 0, 1, Optional.of(one))))
        assertNotNull(
            violationOf(
                unknown,
                call(Read, 4, 5, Optional.of(one)),
                call(Delete(1), 6, 7, true),
                call(Read, 8, 9, Optional.of(one)),
            )
        )
    }

    /** Clients whose calls take effect at a random moment between begin and end. */
    private fun history(random: Random, unknown: Double): List<RecordedCall<Input, Any>> {
        var state = Optional.empty<StoredDocument>()
        val free = PriorityQueue(List(CLIENTS) { random.nextLong(10) })
        val pending =
            List(CALLS) {
                val begin = free.poll()
                val at = begin + 1 + random.nextLong(50)
                val end = at + 1 + random.nextLong(50)
                free += end
                longArrayOf(begin, at, end)
            }
        return pending
            .sortedBy { it[1] }
            .mapIndexed { i, (begin, _, end) ->
                val version = state.map { it.version() }.orElse(0)
                val expected = if (random.nextInt(4) == 0) version + 1 else version
                val input: Input =
                    when (random.nextInt(4)) {
                        0 -> Read
                        1 -> Delete(expected)
                        else -> Write(expected, StoredDocument(i + 2L + CALLS, "$i"))
                    }
                val before = state
                state = DocumentModel.afterUnknown(state, input)
                val isDone = before != state
                val output: Any =
                    when (input) {
                        is Read -> state
                        is Delete -> isDone
                        is Write -> if (isDone) stored else CasAnswer.conflict(before)
                    }
                call(input, begin, end, if (random.nextDouble() < unknown) null else output)
            }
    }

    private fun cpuMillis(block: () -> Unit): Long {
        val threads = ManagementFactory.getThreadMXBean()
        val start = threads.currentThreadCpuTime
        block()
        return (threads.currentThreadCpuTime - start) / 1_000_000
    }

    @Test
    fun historiesOf200Calls_areDecidedInASecond() {
        for (seed in 0L until 20) {
            val random = Random(seed)
            val sound = history(random, unknown = if (seed % 2 == 0L) 0.0 else 0.1)
            val spent = cpuMillis { assertNull(checker.violationOf(sound), "seed $seed") }
            assertTrue(spent < 1_000, "$spent ms for seed $seed")
        }
    }

    @Test
    fun historiesOf200Calls_withOneWrongAnswer_areRefusedInASecond() {
        for (seed in 0L until 20) {
            val sound = history(Random(seed), unknown = if (seed % 2 == 0L) 0.0 else 0.05)
            val wrong = sound.indices.last { sound[it].input is Read && sound[it].output != null }
            val broken = sound.toMutableList()
            broken[wrong] =
                RecordedCall(Read, sound[wrong].begin, Optional.of(StoredDocument(1, "never")), sound[wrong].end)
            val spent = cpuMillis { assertNotNull(checker.violationOf(broken), "seed $seed") }
            assertTrue(spent < 1_000, "$spent ms for seed $seed")
        }
    }

    private companion object {
        const val CALLS = 200
        const val CLIENTS = 8
    }
}
