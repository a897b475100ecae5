package baton.hostile

import baton.reportingTo
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/**
 * The coroutines of one test, some on a hostile dispatcher and some on one that works. Each runs at once, up to its
 * first wait. Later everything runs on the test's thread, with one exception: a coroutine whose dispatcher has refused
 * it goes on in one of kotlinx's threads.
 */
class HostileCrowd(val case: HostileCase, accepts: Int = 2) {
    val hostile = HostileDispatcher(case.hostility, accepts).also { it.isHostile = false }
    private val sane = HostileDispatcher(Hostility.RANDOM_ORDER).also { it.isHostile = false }
    private val hostileContext = case.world.contextOf(hostile)
    private val uncaught = CoroutineExceptionHandler { _, _ -> }
    private val all = mutableListOf<Member>()

    /** The number of dropped coroutines whose permits or locks the test has given back. */
    private var repaid = 0

    val members: List<Member>
        get() = all

    /** One coroutine and its outcome. Its counts are above one if it was resumed too often. */
    inner class Member(val name: String, val isHostile: Boolean) {
        val returns = AtomicInteger()
        val ends = AtomicInteger()
        lateinit var job: Job

        @Volatile var failure: Throwable? = null

        val hasEnded: Boolean
            get() = ends.get() > 0

        val isCancelled: Boolean
            get() = failure is CancellationException

        internal suspend fun run(block: suspend Member.() -> Unit) {
            try {
                block()
                returns.incrementAndGet()
            } catch (e: Throwable) {
                failure = e
            } finally {
                ends.incrementAndGet()
            }
        }

        /** Lets others run; on the hostile dispatcher it does nothing: that dispatcher is to hit the waits alone. */
        suspend fun pause() {
            if (!isHostile) repeat(PAUSES) { yield() }
        }

        override fun toString() = "$name (returned ${returns.get()}, ended ${ends.get()}, $failure)"
    }

    fun hostile(name: String, block: suspend Member.() -> Unit): Member = start(Member(name, true), block)

    fun sane(name: String, block: suspend Member.() -> Unit): Member = start(Member(name, false), block)

    /** Members h1, s1, h2, s2 and so on, [pairs] of each kind. */
    fun pairs(pairs: Int, block: suspend Member.() -> Unit) {
        for (i in 1..pairs) {
            hostile("h$i", block)
            sane("s$i", block)
        }
    }

    private fun start(member: Member, block: suspend Member.() -> Unit): Member {
        all += member
        val context = (if (member.isHostile) hostileContext else sane) + Job() + uncaught
        member.job = CoroutineScope(context).launch(start = CoroutineStart.UNDISPATCHED) { member.run(block) }
        return member
    }

    /**
     * From here on the hostile dispatcher is hostile. Runs [first], and then everything until [done].
     *
     * @param onLost gives back the permits or the lock of a dropped coroutine; called once for each, when nothing else
     *   can run.
     */
    fun unleash(
        done: () -> Boolean = { all.all { it.hasEnded || mayBeLost(it) } && repaid == hostile.dropped },
        onLost: () -> Unit = {},
        first: () -> Unit,
    ) {
        hostile.isHostile = true
        // An exception that a resumption throws past its coroutine is reported there, and is no part of the test.
        reportingTo({}) {
            first()
            await(done, onLost)
            // Tasks left in the queues: a second run, or a task queued although the dispatcher threw.
            do {
                val ran = step()
            } while (ran)
        }
    }

    private fun await(done: () -> Boolean, onLost: () -> Unit) {
        val deadline = System.nanoTime() + PATIENCE_NANOS
        while (!done()) {
            when {
                step() -> {}
                repaid < hostile.dropped -> {
                    repaid++
                    onLost()
                }
                else -> Thread.onSpinWait()
            }
            assertTrue(System.nanoTime() < deadline) { "still not done: $this" }
        }
    }

    fun cancelHostile() {
        for (member in all) if (member.isHostile) member.job.cancel()
    }

    private fun step(): Boolean = sane.step() or hostile.step()

    /** Whether this coroutine may never resume: its resumption was dropped, or refused in a select. */
    fun mayBeLost(member: Member): Boolean =
        member.isHostile && (case.hostility == Hostility.DROPS || (case.hostility.throws && member.isRefusedInSelect))

    /** Only kotlinx.coroutines can resume a select, by the refusing dispatcher: it is cancelled and never resumes. */
    private val Member.isRefusedInSelect: Boolean
        get() = job.isCancelled && "select's dispatcher" in job.getCancellationException().message.orEmpty()

    /**
     * Each coroutine has ended once, as its dispatcher allows: a refused coroutine was cancelled, a dropped one is
     * still suspended, all others have returned.
     *
     * @param isTaken whether a wait that was decided returns normally although the dispatcher refused.
     */
    fun assertEnds(isTaken: Boolean = false) {
        for (member in all) {
            val mayBeRefused = member.isHostile && case.hostility.throws
            when {
                mayBeLost(member) && !member.hasEnded -> {}
                !mayBeRefused -> assertReturned(member)
                case.hostility == Hostility.THROWS && !isTaken -> assertCancelled(member)
                member.returns.get() == 1 -> assertReturned(member)
                else -> assertCancelled(member)
            }
        }
    }

    private fun assertReturned(member: Member) =
        assertEquals("1 1 null", "${member.returns} ${member.ends} ${member.failure}") { "$member in $this" }

    private fun assertCancelled(member: Member) {
        assertEquals("0 1", "${member.returns} ${member.ends}") { "$member in $this" }
        assertTrue(member.isCancelled && member.job.isCancelled) { "$member in $this" }
    }

    override fun toString() = "$case: $all"

    private companion object {
        /** How often other coroutines run in the middle of a critical section. */
        private const val PAUSES = 3

        private val PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120)
    }
}

/** Counts the current holders, and how often there were more of them than may hold at one time. */
class Exclusion(private val limit: Int) {
    private val inside = AtomicInteger()
    private val excess = AtomicInteger()

    fun enter(weight: Int = 1) {
        if (inside.addAndGet(weight) > limit) excess.incrementAndGet()
    }

    fun leave(weight: Int = 1) {
        inside.addAndGet(-weight)
    }

    fun assertHeld() = assertEquals(0, excess.get(), "holders beyond $limit")
}
