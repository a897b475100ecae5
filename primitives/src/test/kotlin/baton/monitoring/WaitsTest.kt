package baton.monitoring

import baton.channels.Channel
import baton.monitoring.core.JsonText
import baton.monitoring.core.listIfNamed
import baton.resilience.CircuitBreaker
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.sync.Barrier
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.Mutexes
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.waiting.WaitNote
import java.lang.management.ManagementFactory
import javax.management.ObjectName
import javax.management.StandardMBean
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class WaitsTest {
    /** Of one object in the text: the lines about it, without the times. */
    private fun linesAbout(label: String): List<String> =
        Waits.dump()
            .split("\n\n")
            .single { it.startsWith("$label: ") }
            .trim()
            .lines()
            .map { it.replace(Regex(" for (at least )?[0-9.hms ]+$"), "") }

    private fun TestScope.waiting(name: String, block: suspend CoroutineScope.() -> Unit) {
        backgroundScope.launch(CoroutineName(name), block = block)
        runCurrent()
    }

    @Test
    fun dump_ofEachPrimitive_namesTheCallersThatWait() = runTest {
        val semaphore = Semaphore(2, acquired = 1, name = "permits")
        val lock = ReadWriteLock(name = "table")
        val channel = Channel<Int>(name = "jobs")
        val mutex = Mutex(locked = true, name = "account")
        val condition = Mutex(locked = true).newCondition("filled")
        val barrier = Barrier(3, name = "round")
        val latch = Latch(1, "started")
        val group = WaitGroup("children").also { it.add() }
        lock.lockRead()
        waiting("two") { semaphore.acquire(2) }
        waiting("closer") { semaphore.awaitIdle() }
        waiting("writer") { lock.lockWrite() }
        waiting("consumer") { channel.receive() }
        waiting("transfer") { mutex.lock() }
        waiting("reader") { condition.await() }
        waiting("party") { barrier.arrive() }
        waiting("starter") { latch.await() }
        waiting("parent") { group.await() }
        assertEquals(
            listOf(
                "Semaphore 'permits': 1 of 2 in use, 1 waiting, 1 in awaitIdle",
                "  acquire by two",
                "  awaitIdle by closer",
            ),
            linesAbout("Semaphore 'permits'"),
        )
        assertEquals(
            listOf("ReadWriteLock 'table': 1 of 1 in use, 1 waiting", "  lockWrite by writer"),
            linesAbout("ReadWriteLock 'table'"),
        )
        assertEquals(listOf("  receive by consumer"), linesAbout("Channel 'jobs'").drop(1))
        assertEquals(listOf("  lock by transfer"), linesAbout("Mutex 'account'").drop(1))
        assertEquals(listOf("  await by reader"), linesAbout("Condition 'filled'").drop(1))
        assertEquals(listOf("  arrive by party"), linesAbout("Barrier 'round'").drop(1))
        assertEquals(listOf("  await by starter"), linesAbout("Latch 'started'").drop(1))
        assertEquals(listOf("  await by parent"), linesAbout("WaitGroup 'children'").drop(1))
    }

    @Test
    fun dump_ofLimiterBreakerAndSelect_namesTheCallersThatWait() = runTest {
        val limiter = RateLimiter.tokenBucket(Rate(1, 1.seconds), name = "api")
        val breaker = CircuitBreaker(name = "bank").also { it.trip() }
        val channel = Channel<Int>(name = "first of two")
        limiter.acquire()
        waiting("caller") { limiter.acquire() }
        waiting("healer") { breaker.awaitClosed() }
        waiting("chooser") { select<Unit> { channel.onReceive {} } }
        assertEquals(listOf("  acquire by caller"), linesAbout("RateLimiter 'api'").drop(1))
        assertEquals(listOf("  awaitClosed by healer"), linesAbout("CircuitBreaker 'bank'").drop(1))
        assertEquals(listOf("  receive by chooser"), linesAbout("Channel 'first of two'").drop(1))
    }

    @Test
    fun dump_ofAWaitFromBeforeTheNotes_saysAtLeast_andOfALaterOneDoesNot() = runTest {
        val mutex = Mutex(locked = true, name = "noted")
        waiting("first") { mutex.lock() }
        Waits.dump()
        waiting("second") { mutex.lock() }
        val lines =
            Waits.dump().lines().filter { it.startsWith("  lock by first") || it.startsWith("  lock by second") }
        assertEquals(2, lines.size)
        assertFalse("at least" in lines.single { "second" in it })
    }

    @Test
    fun dump_ofAReceiver_saidThatNoCallerWaits_andAtLeast() = runTest {
        val jobs = Channel<Int>(4, name = "idle jobs")
        Waits.register().use {
            waiting("worker") { jobs.receive() }
            val lines = Waits.dump().split("\n\n").single { it.startsWith("Channel 'idle jobs': ") }.trim().lines()
            assertEquals("Channel 'idle jobs': 0 of 4 in use, 0 waiting, 1 in receive", lines[0])
            assertTrue(lines.drop(1).all { Regex("  \\w+ by \\w+ for [0-9]\\S*").matches(it) }) { "$lines" }
            val json = Regex("""\{"type":"Channel","name":"idle jobs",.*?]""").find(Waits.dumpJson())?.value.orEmpty()
            assertTrue(""""waiting":0,"others":1,"waits"""" in json) { json }
            assertEquals(1, Regex(""""atLeast":false""").findAll(json).count()) { json }
        }
    }

    @Test
    fun dump_ofAWaitFromBeforeTheNotes_saidAtLeastOnlyOnce() = runTest {
        val mutex = Mutex(locked = true, name = "from before")
        WaitNote.areTaken = false
        waiting("early") { mutex.lock() }
        repeat(2) {
            val text = Waits.dump()
            assertTrue("  lock by early for at least " in text) { text }
        }
    }

    @Test
    fun dump_ofMoreReceiversThanItNames_saysHowMany() = runTest {
        val jobs = Channel<Int>(name = "crowded jobs")
        repeat(103) { waiting("w$it") { jobs.receive() } }
        val lines = linesAbout("Channel 'crowded jobs'")
        assertEquals("Channel 'crowded jobs': 0 of 0 in use, 0 waiting, 103 in receive", lines.first())
        assertEquals("  and 3 more", lines.last())
    }

    @Test
    fun dump_ofMoreWaitersThanItNames_saysHowMany() = runTest {
        val mutex = Mutex(locked = true, name = "crowded")
        repeat(103) { waiting("w$it") { mutex.lock() } }
        val lines = linesAbout("Mutex 'crowded'")
        assertEquals(1 + 100 + 1, lines.size)
        assertEquals("  and 3 more", lines.last())
    }

    @Test
    fun dump_ofObjectsWithoutAName_leavesThemOut() = runTest {
        val mutex = Mutex(locked = true)
        waiting("unseen by the dump") { mutex.lock() }
        assertFalse("unseen by the dump" in Waits.dump())
        assertTrue(mutex.waiting == 1)
    }

    @Test
    fun dump_ofIdleObjects_isTheirNumber_andTheJsonHasThem() = runTest {
        val idle = Mutex(name = "idle account")
        val numbers = Regex("Waits at \\S+: ([0-9]+) objects with a name, ([0-9]+) idle, callers wait for [0-9]+")
        val text = Waits.dump()
        assertFalse("idle account" in text) { text }
        val (all, without) = numbers.find(text.lines().first())!!.destructured
        assertEquals(all.toInt() - without.toInt(), text.trim().split("\n\n").size - 1) { text }
        assertTrue(""""name":"idle account","inUse":0""" in Waits.dumpJson())
        assertFalse(idle.isLocked)
    }

    /** As a scheduler, whose waiting task was "and 1 more". */
    @Test
    fun dump_ofASourceWithoutAQueue_namesTheWaitersOfItsUsage() {
        val source =
            Source(Usage(2, 2, waiting = 3, 3.2.seconds, waiters = listOf("'a'", "'b'"), longestRun = 7.seconds))
        source.listIfNamed(core = null)
        val lines =
            listOf(
                "Source 'queue of its own': 2 of 2 in use, 3 waiting",
                "  waiting: 'a', 'b' and 1 more, the longest for 3.2s",
                "  running: the oldest for 7s",
            )
        assertEquals(lines, Waits.dump().split("\n\n").single { "queue of its own" in it }.trim().lines())
    }

    private class Source(private val usage: Usage) : Monitored {
        override val name = "queue of its own"

        override fun usage() = usage
    }

    @Test
    fun dump_ofObjectsByKey_showsThoseForWhichACallerWaits() = runTest {
        val locks = Mutexes<Int>(name = "accounts by number")
        waiting("holder") { locks.withLock(42) { awaitCancellation() } }
        waiting("other") { locks.withLock(43) { awaitCancellation() } }
        waiting("second") { locks.withLock(42) {} }
        assertEquals(
            listOf("Mutex 'accounts by number[42]': 1 of 1 in use, 1 waiting", "  lock by second"),
            linesAbout("Mutex 'accounts by number[42]'"),
        )
        assertFalse("accounts by number[43]" in Waits.dump())
    }

    @Test
    fun dump_afterTheWait_showsNone() = runTest {
        val mutex = Mutex(locked = true, name = "passing")
        waiting("brief") { mutex.lock() }
        assertEquals(2, linesAbout("Mutex 'passing'").size)
        mutex.unlock()
        runCurrent()
        assertEquals(listOf("Mutex 'passing': 1 of 1 in use, 0 waiting"), linesAbout("Mutex 'passing'"))
    }

    @Test
    fun dumpJson_isOneObject_withEachWait() = runTest {
        val mutex = Mutex(locked = true, name = "\"quoted\"\n")
        waiting("tab\t") { mutex.lock() }
        val json = Waits.dumpJson()
        val about = Regex("""\{"type":"Mutex","name":"\\"quoted\\"\\u000a",[^}]*}""").find(json)?.value.orEmpty()
        val expected =
            """"inUse":1,"capacity":1,"waiting":1,"others":0,"waits":[{"call":"lock","caller":"tab\u0009","millis":"""
        assertTrue(expected in about) { json }
        assertTrue(json.startsWith("""{"at":"20""") && json.endsWith("]}")) { json }
        assertTrue(mutex.isLocked)
    }

    @Test
    fun json_ofTexts_isEscaped() {
        val json = JsonText()
        json.inObject {
            json.text("a", "\\ \" \u0001 \ud800 ä")
            json.each("b", listOf(1L, 2L)) { json.number("n", it) }
            json.texts("c", emptyList())
            json.texts("d", listOf("{", "["))
            json.flag("e", true)
        }
        val expected = """{"a":"\\ \" \u0001 \ud800 ä","b":[{"n":1},{"n":2}],"c":[],"d":["{","["],"e":true}"""
        assertEquals(expected, json.toString())
    }

    @Test
    fun register_offersTheDumpOverJmx_untilItIsClosed() = runTest {
        val mutex = Mutex(locked = true, name = "over JMX")
        val server = ManagementFactory.getPlatformMBeanServer()
        val name = ObjectName(Waits.OBJECT_NAME)
        val registration = Waits.register()
        assertSame(registration, Waits.register())
        waiting("remote") { mutex.lock() }
        val text = server.invoke(name, "dump", emptyArray(), emptyArray()) as String
        val json = server.invoke(name, "dumpJson", emptyArray(), emptyArray()) as String
        assertTrue("lock by remote for " in text) { text }
        assertTrue("\"name\":\"over JMX\"" in json) { json }
        assertEquals(Deadlocks.isEnabled, server.getAttribute(name, "DeadlocksEnabled"))
        registration.close()
        registration.close()
        assertFalse(server.isRegistered(name))
        val next = Waits.register()
        assertNotSame(registration, next)
        registration.close()
        assertTrue(server.isRegistered(name))
        server.unregisterMBean(name)
        next.close()
    }

    @Test
    fun register_whileAnotherBeanHasTheName_isRefused() {
        val server = ManagementFactory.getPlatformMBeanServer()
        val name = ObjectName(Waits.OBJECT_NAME)
        server.registerMBean(StandardMBean(NO_WAITS, WaitsMXBean::class.java, true), name)
        try {
            val refused = assertThrows<IllegalStateException> { Waits.register() }
            assertEquals("baton:type=Waits is registered by another class loader", refused.message)
        } finally {
            server.unregisterMBean(name)
        }
        Waits.register().close()
    }

    private companion object {
        val NO_WAITS =
            object : WaitsMXBean {
                override fun isDeadlocksEnabled() = false

                override fun dump() = ""

                override fun dumpJson() = ""

                override fun enableDeadlocks() {}
            }
    }
}
