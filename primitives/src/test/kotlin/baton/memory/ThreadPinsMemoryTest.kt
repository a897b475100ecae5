package baton.memory

import baton.waiting.threads.HandOverExecutor
import java.lang.ref.WeakReference
import java.security.CodeSource
import java.security.ProtectionDomain
import java.security.cert.Certificate
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS
import java.util.function.Function
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Threads of Baton's own do not keep the class loader of the application that happened to start them. */
class ThreadPinsMemoryTest {
    /** Loaded by the class loader of an application. */
    class Caller : Function<Runnable, Thread> {
        override fun apply(work: Runnable): Thread = HandOverExecutor.daemon("baton-test", work).apply { start() }
    }

    private class Application : ClassLoader(HandOverExecutor::class.java.classLoader) {
        fun define(name: String): Class<*> {
            val bytes = parent.getResourceAsStream(name.replace('.', '/') + ".class")!!.use { it.readAllBytes() }
            val source = CodeSource(null, null as Array<Certificate>?)
            return defineClass(name, bytes, 0, bytes.size, ProtectionDomain(source, null, this, null))
        }
    }

    @Test
    fun thread_startedByAnApplication_doesNotKeepItsClassLoader() {
        val gate = CountDownLatch(1)
        val (thread, loader) = startFromAnApplication { gate.await(120, SECONDS) }
        assertCollected(listOf(loader))
        assertTrue(thread.isAlive)
        gate.countDown()
        thread.join(120_000)
    }

    private fun startFromAnApplication(work: Runnable): Pair<Thread, WeakReference<ClassLoader>> {
        val application = Application()
        val caller = application.define(Caller::class.java.name)
        assertNotSame(Caller::class.java, caller)
        @Suppress("UNCHECKED_CAST") val start = caller.getConstructor().newInstance() as Function<Runnable, Thread>
        return start.apply(work) to WeakReference(application)
    }
}
