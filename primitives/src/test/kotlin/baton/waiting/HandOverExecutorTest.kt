package baton.waiting

import baton.waiting.threads.HandOverExecutor
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

class HandOverExecutorTest {
    @Test
    fun execute_whileManyCallbacksBlock_runsTheNext() {
        val gate = CountDownLatch(1)
        val ended = CountDownLatch(100)
        repeat(100) { HandOverExecutor.execute { if (gate.await(120, SECONDS)) ended.countDown() } }
        HandOverExecutor.execute { gate.countDown() }
        assertTrue(ended.await(120, SECONDS))
    }

    @Test
    fun execute_manyCallbacksThatReturnSoon_startsFewThreads() {
        val threads = ConcurrentHashMap.newKeySet<Thread>()
        val ended = CountDownLatch(MANY)
        repeat(MANY) {
            HandOverExecutor.execute {
                threads += Thread.currentThread()
                ended.countDown()
            }
        }
        assertTrue(ended.await(120, SECONDS))
        assertTrue(threads.size < MANY / 100, "${threads.size} threads")
    }

    @ParameterizedTest
    @EnumSource
    fun callback_throws_isReported_andOthersRunOn(inner: InnerFailure) {
        val handled = CompletableFuture<Throwable>()
        val next = CompletableFuture<Thread>()
        HandOverExecutor.execute {
            Thread.currentThread().setUncaughtExceptionHandler { thread, e ->
                thread.uncaughtExceptionHandler = null
                handled.complete(e)
            }
            throw inner.create()
        }
        HandOverExecutor.execute { next.complete(Thread.currentThread()) }
        assertEquals("${inner.create()}", "${handled.get(120, SECONDS)}")
        val thread = next.get(120, SECONDS)
        assertNotSame(Thread.currentThread(), thread)
        assertTrue(thread.isDaemon)
    }

    @Test
    fun threads_withNothingToRun_end() {
        val thread = CompletableFuture<Thread>()
        HandOverExecutor.execute { thread.complete(Thread.currentThread()) }
        thread.get(120, SECONDS).join(120_000)
        assertFalse(thread.get().isAlive)
    }

    private companion object {
        const val MANY = 100_000
    }
}
