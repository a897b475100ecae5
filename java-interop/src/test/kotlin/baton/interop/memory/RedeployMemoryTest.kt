package baton.interop.memory

import baton.interop.AsyncMutex
import baton.interop.AsyncSemaphore
import baton.sync.Mutex
import baton.sync.withLock
import java.io.File
import java.lang.ref.WeakReference
import java.net.URLClassLoader
import java.time.Duration
import java.util.concurrent.Executor
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit.MINUTES
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/**
 * An application with Baton among its own jars, on a thread of its container: after its end nothing of it is kept. None
 * of the applications uses kotlinx' own event loop, which leaves a thread local behind.
 */
class RedeployMemoryTest {
    class Futures : Runnable {
        override fun run() {
            val mutex = AsyncMutex.create()
            val first = mutex.lock().join()
            val last = (1..30).map { mutex.lock().thenAccept { permit -> permit.close() } }.last()
            first.close()
            last.get(120, SECONDS)
        }
    }

    class Timeouts : Runnable {
        override fun run() {
            val semaphore = AsyncSemaphore.create(1)
            semaphore.acquire().join()
            semaphore.acquire(1, Duration.ofMillis(1)).handle { _, _ -> }.get(120, SECONDS)
        }
    }

    class CoroutinesWithoutDispatcher : Runnable {
        override fun run() {
            val mutex = Mutex(locked = true)
            val next: suspend () -> Unit = { mutex.withLock {} }
            repeat(30) { next.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() }) }
            mutex.unlock()
            check(!mutex.isLocked)
        }
    }

    class DispatcherInPlace : Runnable {
        override fun run() {
            val mutex = Mutex(locked = true)
            val scope = CoroutineScope(Executor { it.run() }.asCoroutineDispatcher())
            repeat(30) { scope.launch { mutex.withLock {} } }
            mutex.unlock()
            check(!mutex.isLocked)
        }
    }

    @ParameterizedTest
    @ValueSource(
        classes = [Futures::class, Timeouts::class, CoroutinesWithoutDispatcher::class, DispatcherInPlace::class]
    )
    fun application_thatHasEnded_isCollected_althoughItsThreadLivesOn(application: Class<*>) {
        val pool = Executors.newSingleThreadExecutor()
        try {
            val loader = runOn(pool, application.name)
            // Threads of Baton's own end after a second without work.
            val deadline = System.nanoTime() + MINUTES.toNanos(2)
            while (loader.get() != null && System.nanoTime() < deadline) System.gc()
            assertTrue(loader.get() == null) { "${application.simpleName} is kept" }
        } finally {
            pool.shutdown()
        }
    }

    private fun runOn(pool: ExecutorService, application: String): WeakReference<ClassLoader> {
        val path = System.getProperty("java.class.path").split(File.pathSeparatorChar)
        val urls = path.map { File(it).toURI().toURL() }.toTypedArray()
        URLClassLoader(urls, ClassLoader.getPlatformClassLoader()).use { loader ->
            val type = Class.forName(application, true, loader)
            assertNotSame(javaClass.classLoader, type.classLoader)
            pool.submit(type.getConstructor().newInstance() as Runnable).get(2, MINUTES)
            pool.submit {}.get(2, MINUTES)
            return WeakReference(loader)
        }
    }
}
