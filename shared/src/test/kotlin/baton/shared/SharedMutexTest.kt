package baton.shared

import baton.PermitTimeoutException
import java.nio.file.Files
import java.nio.file.Path
import java.time.Duration as JavaDuration
import java.util.concurrent.CompletableFuture
import kotlin.concurrent.thread
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

@Tag("jdk")
class SharedMutexTest : TwoMembers() {
    private val mine: SharedMutex
        get() = here.mutex("m")

    private val others: SharedMutex
        get() = there.mutex("m")

    @Test
    fun lock_whileAnotherMemberHolds_waitsForItsClose() = runBlocking {
        val lock = mine.lock()
        assertNull(others.tryLock())
        assertNull(mine.tryLock())
        val waiter = async { others.lock() }
        delay(20)
        assertFalse(waiter.isCompleted)
        lock.close()
        waiter.await().close()
        assertNotNull(mine.tryLock())
    }

    @Test
    fun fencingToken_ofEveryLock_isGreater() = runBlocking {
        val tokens = List(20) { index -> (if (index % 2 == 0) mine else others).withLock { it.fencingToken } }
        assertEquals(tokens.sorted().distinct(), tokens)
    }

    @Test
    fun close_ofALockTwice_unlocksOnce() {
        val first = mine.lockBlocking()
        first.close()
        val second = others.lockBlocking()
        first.close()
        assertNull(mine.tryLock())
        second.close()
        mine.lockBlocking().close()
    }

    @Test
    fun close_byAnotherThread_unlocks() {
        val lock = mine.lockBlocking()
        thread { lock.close() }.join()
        assertNotNull(others.tryLock())
    }

    @Test
    fun close_ofALockWhoseWordNamesAnotherOwner_throwsAndLeavesTheWord() {
        val lock = mine.lockBlocking()
        val words = mine.core.shared.words
        val foreign = 77 or (5 shl 10)
        words.setInt(0, foreign)
        val misuse = assertThrows<IllegalStateException> { lock.close() }
        assertEquals(
            "unlock of SharedMutex 'm' of ${path.toRealPath()}, whose word names another owner: slot 77, generation 5",
            misuse.message,
        )
        assertEquals(foreign, words.getInt(0))
        lock.close()
    }

    @Test
    fun regionClose_whileItHolds_leavesTheLockAbandoned() = runBlocking {
        val lock = mine.lock()
        here.close()
        val next = others.lock()
        assertTrue(next.abandoned)
        lock.close()
        assertThrows<SharedRegionException> { lock.markConsistent() }
        next.markConsistent()
        assertFalse(next.abandoned)
        next.close()
        others.withLock { assertFalse(it.abandoned) }
    }

    @Test
    fun regionClose_whileCallersWait_failsThemAndUnlocksNothing() = runBlocking {
        val lock = others.lock()
        supervisorScope {
            val atTheWord = async(Dispatchers.Default) { mine.lock() }
            val inLine = async(Dispatchers.Default) { mine.lock() }
            val blocked = CompletableFuture<Throwable>()
            thread { blocked.complete(runCatching { mine.lockBlocking() }.exceptionOrNull()) }
            while (mine.core.waiting < 2) delay(1)
            here.close()
            for (waiter in listOf(atTheWord, inLine)) assertThrows<SharedRegionException> {
                runBlocking { waiter.await() }
            }
            assertTrue(blocked.get() is SharedRegionException)
        }
        assertThrows<SharedRegionException> { mine.tryLock() }
        lock.close()
        others.withLock { assertFalse(it.abandoned) }
    }

    @Test
    fun regionClose_whileItHoldsAndCallersWait_failsThem() = runBlocking {
        val mutex = mine
        mutex.lock()
        supervisorScope {
            val inLine = async(Dispatchers.Default) { mutex.lock() }
            while (mutex.core.waiting < 1) delay(1)
            here.close()
            val failure = assertThrows<SharedRegionException> { runBlocking { inLine.await() } }
            assertTrue(failure.message.orEmpty().endsWith("the region is closed"), failure.message)
        }
        assertTrue(others.lock().abandoned)
    }

    @Test
    fun withLock_withATimeout_throwsARefusalIfItIsNotFreeInTime() = runBlocking {
        val lock = others.lock()
        for (timeout in listOf((-1).seconds, Duration.ZERO, 5.milliseconds)) {
            val late =
                assertThrows<PermitTimeoutException> {
                    runBlocking { mine.withLock(timeout) { error("must not run") } }
                }
            assertEquals("not locked within $timeout: $mine", late.message)
        }
        lock.close()
        assertNull(mine.withLock(Duration.ZERO) { others.tryLock() })
        others.withLock { assertFalse(it.abandoned) }
    }

    @Test
    fun withLockWithATimeout_afterADeath_repairsFirst() = runBlocking {
        mine.lock()
        here.close()
        val broken =
            assertThrows<AbandonedLockException> { runBlocking { others.withLock(1.minutes) { error("ran") } } }
        assertTrue(broken.message.orEmpty().startsWith("a holder of SharedMutex"), broken.message)
        assertEquals("repaired", others.withLock(1.minutes, repair = { assertTrue(it.abandoned) }) { "repaired" })
        others.withLock { assertFalse(it.abandoned) }
    }

    @Test
    fun withLock_afterADeath_throwsAndLeavesTheMarkUntilARepair() = runBlocking {
        mine.lock()
        here.close()
        assertThrows<AbandonedLockException> { runBlocking { others.withLock { error("must not run") } } }
        val broken =
            assertThrows<IllegalStateException> {
                runBlocking { others.withLock(repair = { error("no repair") }) { error("must not run") } }
            }
        assertEquals("no repair", broken.message)
        assertEquals(5, others.withLock(repair = { assertTrue(it.abandoned) }) { lock -> if (lock.abandoned) 4 else 5 })
        others.withLock { assertFalse(it.abandoned) }
    }

    @Test
    fun cancel_whileWaitingForTheWord_leavesNothing() = runBlocking {
        val lock = others.lock()
        repeat(20) {
            val waiter = launch { mine.lock() }
            delay(it.toLong())
            waiter.cancelAndJoin()
        }
        lock.close()
        assertNotNull(mine.tryLock())
    }

    @Test
    fun tryLock_withATimeoutThatEnds_returnsNullAndHoldsNothing() = runBlocking {
        val lock = others.lock()
        for (timeout in listOf(30.milliseconds, Duration.ZERO, (-1).seconds, -Duration.INFINITE)) {
            assertNull(mine.tryLock(timeout))
        }
        lock.close()
        mine.tryLock(Duration.INFINITE)?.close() ?: error("not locked")
        assertNotNull(others.tryLock(Duration.ZERO))
    }

    @Test
    fun lockBlocking_withATimeout_endsByIt() {
        val lock = others.lockBlocking()
        for (timeout in listOf(JavaDuration.ofMillis(30), JavaDuration.ZERO, JavaDuration.ofSeconds(Long.MIN_VALUE))) {
            assertNull(mine.lockBlocking(timeout))
        }
        lock.close()
        mine.lockBlocking(JavaDuration.ofSeconds(Long.MAX_VALUE))?.close() ?: error("not locked")
        assertNotNull(others.lockBlocking(JavaDuration.ZERO))
    }

    @Test
    fun lockBlocking_ofAnInterruptedThread_throwsAndHoldsNothing() {
        val lock = others.lockBlocking()
        val inLine = ArrayList<Thread>()
        val failures = List(2) { CompletableFuture<Throwable>() }
        for (failure in failures) {
            inLine += thread { failure.complete(runCatching { mine.lockBlocking() }.exceptionOrNull()) }
        }
        while (mine.core.waiting < 1) Thread.onSpinWait()
        inLine.forEach { it.interrupt() }
        failures.forEach { assertTrue(it.get() is InterruptedException) }
        lock.close()
        mine.lockBlocking().close()
    }

    @Test
    fun lock_inACancelledCoroutineThatNeedNotWait_locks() = runBlocking {
        coroutineScope {
            launch(start = CoroutineStart.UNDISPATCHED) {
                coroutineContext[kotlinx.coroutines.Job]?.cancel()
                mine.lock().close()
            }
        }
        assertNotNull(others.tryLock())
    }

    @Test
    fun storm_ofCancelsAndTimeouts_losesNoLock() = runBlocking {
        var inside = 0
        var sections = 0
        coroutineScope {
            repeat(200) { index ->
                launch(Dispatchers.Default) {
                    val mutex = if (index % 2 == 0) mine else others
                    val section = { _: SharedLock ->
                        assertEquals(1, ++inside)
                        sections++
                        inside--
                    }
                    if (index % 3 == 0) {
                        mutex.tryLock((index % 7).milliseconds)?.use(section)
                    } else {
                        withTimeoutOrNull((1 + index % 50).milliseconds) { mutex.withLock(block = section) }
                    }
                }
            }
        }
        withTimeout(2.minutes) { mine.withLock { assertEquals(0, inside) } }
        withTimeout(2.minutes) { others.withLock { assertTrue(sections > 0) } }
    }

    @Test
    fun file_thatIsRemoved_failsEveryCallAndEveryWaiter() = runBlocking {
        val mutex = mine
        val held = mutex.lock()
        supervisorScope {
            val waiter = async(Dispatchers.Default) { mutex.lock() }
            Files.delete(path)
            val failure =
                assertThrows<SharedRegionException> { runBlocking { withTimeout(2.minutes) { waiter.await() } } }
            assertTrue(failure.message.orEmpty().endsWith("the file was removed or replaced"), failure.message)
        }
        assertThrows<SharedRegionException> { mutex.tryLock() }
        assertThrows<SharedRegionException> { held.close() }
        held.close()
    }

    @Test
    fun file_thatIsCut_failsEveryCall() = runBlocking {
        val mutex = mine
        there.close()
        Files.newByteChannel(path, java.nio.file.StandardOpenOption.WRITE).use { it.truncate(100) }
        withTimeout(2.minutes) { while (here.toString().contains("slot")) delay(10) }
        val failure = assertThrows<SharedRegionException> { mutex.tryLock() }
        assertTrue(failure.message.orEmpty().endsWith("the file was cut to 100 of 266240 bytes"), failure.message)
    }

    @Test
    fun mutex_ofTwoClassLoaders_excludes() {
        val urls =
            System.getProperty("java.class.path").split(java.io.File.pathSeparator).map {
                java.io.File(it).toURI().toURL()
            }
        val loader = java.net.URLClassLoader(urls.toTypedArray(), ClassLoader.getPlatformClassLoader())
        loader.use {
            val type = it.loadClass("baton.shared.ForeignHolder")
            val lock = type.getMethod("lock", Path::class.java).invoke(null, path)
            assertTrue(lock.javaClass.classLoader === it)
            assertNull(mine.lockBlocking(JavaDuration.ofMillis(100)))
            (lock as AutoCloseable).close()
            mine.lockBlocking().use { mine -> assertFalse(mine.abandoned) }
        }
    }

    @Test
    fun toString_namesTheStateAndTheHolderAndTheFile() = runBlocking {
        val me = ProcessHandle.current().pid()
        assertNull(mine.holder)
        assertEquals("SharedMutex 'm' of ${path.toRealPath()} (free, waiting = 0)", "$mine")
        mine.lock()
        assertEquals("SharedMutex 'm' of ${path.toRealPath()} (locked by process $me, waiting = 0)", "$others")
        assertEquals(me, others.holder)
    }
}

/** Called by reflection, from another class loader. */
object ForeignHolder {
    @JvmStatic fun lock(path: Path): AutoCloseable = SharedRegion.open(path).mutex("m").lockBlocking()
}
