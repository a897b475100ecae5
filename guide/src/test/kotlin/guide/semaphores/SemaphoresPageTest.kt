package guide.semaphores

import baton.PermitTimeoutException
import baton.Priority
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.Semaphores
import baton.sync.WaitOrder
import baton.sync.withPermit
import baton.sync.withPermits
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The Kotlin code of docs/semaphores.md. */
class SemaphoresPageTest {
    private class Client {
        suspend fun get(path: String): String {
            delay(1.seconds)
            return "page of $path"
        }
    }

    private val client = Client()

    private val uplink = Semaphore(permits = 5, name = "uplink")

    suspend fun fetch(path: String): String = uplink.withPermit { client.get(path) }

    @Test
    fun permits_boundTheRequests() = runTest {
        val requests = List(12) { launch { fetch("/$it") } }
        requests.forEach { it.join() }
        assertEquals(3_000, currentTime)
    }

    suspend fun import(file: String, size: Int): String? =
        try {
            uplink.withPermits(if (size > 1_000) 3 else 1, timeout = 200.milliseconds) { client.get(file) }
        } catch (e: PermitTimeoutException) {
            null // not enough permits within 200 ms; nothing is held
        }

    @Test
    fun severalPermits_comeInOneStepOrNotAtAll() = runTest {
        launch { uplink.withPermits(3) { delay(1.seconds) } }
        runCurrent()
        assertEquals(null, import("a", size = 2_000))
        assertEquals("page of b", import("b", size = 10))
        assertEquals(5, uplink.availablePermits)
    }

    @Test
    fun urgentWaiters_areServedFirst() = runTest {
        val served = ArrayList<String>()
        val uplink = Semaphore(permits = 1, acquired = 1, order = WaitOrder.PRIORITY)
        launch { uplink.withPermit { served += "report" } }
        launch(Priority.HIGH) { uplink.withPermit { served += "login" } }
        runCurrent()
        uplink.release()
        runCurrent()
        assertEquals(listOf("login", "report"), served)
    }

    @Test
    fun size_changesWhileItIsInUse() = runTest {
        uplink.resize(2) // holders keep theirs; releases pay the debt first
        uplink.resize(0) // a closed gate: all wait
        launch { uplink.withPermit {} }
        runCurrent()
        assertEquals(1, uplink.waiting)
        uplink.resize(5)
        uplink.awaitIdle() // until no permit is held
        uplink.close() // all later requests fail
        assertThrows<SemaphoreClosedException> { uplink.acquire() }
        assertFalse(uplink.waiting > 0)
    }

    private val perHost = Semaphores<String>(permits = 4, name = "hosts")

    suspend fun fetchFrom(host: String, path: String): String = perHost.withPermit(host) { client.get("$it$path") }

    @Test
    fun hosts_haveTheirOwnPermits() = runTest {
        val requests = List(8) { launch { fetchFrom("host${it % 2}", "/$it") } }
        requests.forEach { it.join() }
        assertEquals(1_000, currentTime)
        assertEquals(0, perHost.size)
    }
}
