package baton.scheduler.stress

import baton.Priority
import baton.scheduler.dispatch.DispatcherView
import baton.scheduler.dispatch.Held
import baton.scheduler.dispatch.Kind
import baton.scheduler.prioritized
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Holders and waiters of random levels, cancelled at random, on several threads. */
internal class BoostingStressTest {
    private val violations = AtomicInteger()
    private val served = AtomicInteger()

    @ParameterizedTest
    @EnumSource
    fun lock_heldAndAwaitedAtRandom_excludes_allEnd_noBoostIsLeft(kind: Kind) = runBlocking {
        val prioritized = Dispatchers.Default.prioritized(THREADS)
        val lock = kind.make()
        val holding = Party(lock.hold, lock.holdersShare)
        val wanting = Party(lock.want, lock.wantersShare)
        withTimeout(2.minutes) {
            coroutineScope { repeat(USERS) { launch(prioritized) { use(Random(it), holding, wanting) } } }
            // Another thread may still be ending the last boosts.
            while (!(prioritized as DispatcherView).boosts.isEmpty) delay(1)
            lock.hold { served.incrementAndGet() }
            lock.want { served.incrementAndGet() }
        }
        assertEquals(0, violations.get())
    }

    private inner class Party(val enter: Held, val share: Boolean) {
        val inside = AtomicInteger()

        suspend fun use(others: Party, yields: Int) = enter {
            val before = inside.getAndIncrement()
            if ((before > 0 && !share) || others.inside.get() > 0) violations.incrementAndGet()
            try {
                repeat(yields) { yield() }
            } finally {
                inside.decrementAndGet()
                served.incrementAndGet()
            }
        }
    }

    private suspend fun use(random: Random, holding: Party, wanting: Party): Unit = coroutineScope {
        repeat(ROUNDS) {
            val (one, other) = if (random.nextBoolean()) holding to wanting else wanting to holding
            val yields = random.nextInt(3)
            val attempt = launch(Priority.entries.random(random)) { one.use(other, yields) }
            if (random.nextInt(3) == 0) attempt.cancelAfter(random.nextInt(4))
            attempt.join()
        }
    }

    private suspend fun Job.cancelAfter(yields: Int) {
        repeat(yields) { yield() }
        cancel()
    }

    private companion object {
        const val THREADS = 3
        const val USERS = 8
        const val ROUNDS = 300
    }
}
