package baton.scheduler.tasks

import baton.Priority
import baton.PriorityElement
import baton.priority
import baton.scheduler.TaskScheduler
import baton.sync.assertContains
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executors
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CopyableThreadContextElement
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.asContextElement
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The elements that a task has of its caller's context, and of the argument `context`. */
class InheritedContextTest {
    private val local = ThreadLocal<String>()
    private val thread = Executors.newSingleThreadExecutor().asCoroutineDispatcher()
    private val scheduler = TaskScheduler(CoroutineScope(thread + CoroutineName("scope")), 1, "test")

    @AfterEach
    fun closeThread() {
        thread.close()
    }

    private fun <T> asCaller(block: suspend CoroutineScope.() -> T): T =
        runBlocking(CoroutineName("caller") + local.asContextElement("caller"), block)

    @Test
    fun run_keepsNameAndThreadLocalsOfTheCaller() {
        val found = asCaller { scheduler.run { Triple(local.get(), coroutineContext[CoroutineName]?.name, thread()) } }
        assertEquals(Triple("caller", "caller", thread), found)
    }

    @Test
    fun run_afterASuspension_stillHasTheCallersThreadLocals() = runTest {
        val scheduler = TaskScheduler(this, 1)
        withContext(local.asContextElement("caller")) {
            scheduler.run {
                assertEquals("caller", local.get())
                delay(1.seconds)
                assertEquals("caller", local.get())
            }
            assertEquals("caller", local.get())
        }
        assertNull(local.get())
    }

    @Test
    fun run_ended_leavesItsThreadAsItWas() {
        asCaller {
            withContext(Dispatchers.Default) { scheduler.run { assertEquals("caller", local.get()) } }
            assertEquals("caller", local.get())
        }
        assertNull(CompletableFuture.supplyAsync({ local.get() }, thread.executor).join())
        assertNull(runBlocking { scheduler.run { local.get() } })
        assertNull(runBlocking { scheduler.schedule { local.get() }.await() })
    }

    @Test
    fun schedule_withoutContext_hasTheScopesAlone() {
        val found = asCaller { scheduler.schedule { local.get() to coroutineContext[CoroutineName]?.name }.await() }
        assertEquals(null to "scope", found)
    }

    @Test
    fun run_callerWithJobDispatcherAndLevel_hasItsOwn() {
        val (context, task) =
            asCaller {
                withContext(Priority.HIGH) {
                    val caller = currentCoroutineContext().job
                    scheduler.run(Priority.CRITICAL) {
                        assertTrue(caller.children.none(), "the task is a child of its caller")
                        coroutineContext to scheduler.tasks("caller").single()
                    }
                }
            }
        assertSame(thread, context[ContinuationInterceptor])
        assertEquals(Priority.CRITICAL, context.priority)
        assertEquals(Priority.CRITICAL, task.priority)
        assertEquals(1, context.fold(0) { levels, element -> levels + if (element is PriorityElement) 1 else 0 })
    }

    @Test
    fun context_replacesElementsOfCallerAndScope() {
        val given = CoroutineName("given") + local.asContextElement("given")
        asCaller {
            val expected = "given" to "given"
            assertEquals(expected, scheduler.run(context = given) { elements() })
            assertEquals(expected, scheduler.submit(context = given) { elements() }.await())
            assertEquals(expected, scheduler.schedule(context = given) { elements() }.await())
        }
    }

    private fun CoroutineScope.elements() = local.get() to coroutineContext[CoroutineName]?.name

    @Test
    fun context_withADispatcher_runsTheTaskThere() {
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { other ->
            asCaller {
                assertSame(other, scheduler.run(context = other) { thread() })
                assertSame(other, scheduler.submit(context = other) { thread() }.await())
                assertSame(other, scheduler.schedule(context = other) { thread() }.await())
            }
        }
    }

    /** The dispatcher in the context, on whose thread the caller must be. */
    private suspend fun thread(): CoroutineDispatcher {
        val dispatcher = currentCoroutineContext()[ContinuationInterceptor] as CoroutineDispatcher
        val here = Thread.currentThread()
        withContext(Dispatchers.IO) { withContext(dispatcher) { assertSame(here, Thread.currentThread()) } }
        return dispatcher
    }

    @Test
    fun context_withATestDispatcher_runsTheTaskInVirtualTime() = runTest {
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Default), 1)
        val task = scheduler.schedule(context = StandardTestDispatcher(testScheduler)) { delay(3600.seconds) }
        task.await()
        assertEquals(3_600_000, testScheduler.currentTime)
    }

    @Test
    fun context_withALevel_hasNoEffect() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val task = scheduler.schedule(Priority.HIGH, context = Priority.CRITICAL) { coroutineContext.priority }
        assertEquals(Priority.HIGH, task.priority)
        assertEquals(Priority.HIGH, task.await())
    }

    @Test
    fun context_withAJob_isRefusedAndLeavesNothing() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val refused =
            listOf<suspend (CoroutineContext) -> Unit>(
                { scheduler.schedule(context = it) {} },
                { scheduler.submit(context = it) {} },
                { scheduler.run(context = it) {} },
            )
        for (job in listOf(Job(), NonCancellable)) {
            for (call in refused) {
                val e = runCatching { call(job + CoroutineName("x")) }.exceptionOrNull()
                assertTrue(e is IllegalArgumentException, "$e")
                assertContains(
                    e?.message,
                    "context contains $job, must contain no Job: a task belongs to the scheduler's scope",
                )
            }
        }
        assertEquals(0, Priority.entries.sumOf { scheduler.metrics[it].scheduled })
    }

    @Test
    fun callersContext_givenWithoutItsJob_doesNotBindTheTaskToTheCaller() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val caller = CoroutineScope(CoroutineName("caller") + Job())
        val task = scheduler.schedule(context = caller.coroutineContext.minusKey(Job)) { delay(1.seconds) }
        runCurrent()
        caller.cancel()
        task.await()
        assertEquals(1_000, testScheduler.currentTime)
    }

    @Test
    fun run_callerCancelled_cancelsTheTaskAndWaitsForIt() = runTest {
        val scheduler = TaskScheduler(this, 1, "test")
        val task = CompletableDeferred<Job>()
        var hasEnded = false
        val caller = launch {
            scheduler.run {
                task.complete(coroutineContext.job)
                try {
                    awaitCancellation()
                } finally {
                    withContext(NonCancellable) { delay(1.seconds) }
                    hasEnded = true
                }
            }
        }
        runCurrent()
        assertFalse(task.await().isCancelled)
        caller.cancel()
        caller.join()
        assertTrue(hasEnded && task.await().isCancelled)
    }

    @Test
    fun key_none_isTheNameOfTheCoroutine() = runTest {
        val scheduler = paused()
        val scheduled = scheduler.schedule(context = CoroutineName("report")) {}
        val submitted = scheduler.submit(context = CoroutineName("report")) {}
        val run = launch(CoroutineName("report")) { scheduler.run {} }
        runCurrent()
        assertEquals(listOf("report", "report", "report"), scheduler.tasks("report").map { it.taskKey })
        assertContains(scheduled.toString(), "ScheduledTask 'report'")
        assertEquals(3, scheduler.cancel("report"))
        run.join()
        assertTrue(scheduled.isCancelled && submitted.isCancelled && scheduler.tasks("report").isEmpty())
    }

    @Test
    fun key_given_countsInsteadOfTheName() = runTest {
        val scheduler = paused()
        val task = scheduler.schedule(key = 42, context = CoroutineName("report")) {}
        assertEquals(listOf(task), scheduler.tasks(42))
        assertEquals(emptyList<Any>(), scheduler.tasks("report"))
        assertEquals(1, scheduler.cancel(42))
    }

    @Test
    fun key_none_isNotTheNameOfTheScope() = runTest {
        val scheduler = paused(CoroutineName("app"))
        val task = scheduler.schedule(context = CoroutineName("app")) {}
        val run = launch(CoroutineName("app")) { scheduler.run {} }
        runCurrent()
        assertNull(task.taskKey)
        assertEquals(0, scheduler.cancel("app"))
        scheduler.resume()
        run.join()
    }

    private fun TestScope.paused(context: CoroutineContext = CoroutineName("scope")) =
        TaskScheduler(CoroutineScope(coroutineContext + context), 3).also { it.pause() }

    /** As the one in the documentation of kotlinx: the thread is the truth, and a new coroutine gets a copy. */
    private inner class Copied(val value: String, val log: MutableList<String>) :
        CopyableThreadContextElement<String?> {
        override val key: CoroutineContext.Key<*>
            get() = CopiedKey

        override fun updateThreadContext(context: CoroutineContext): String? = local.get().also { local.set(value) }

        override fun restoreThreadContext(context: CoroutineContext, oldState: String?) = local.set(oldState)

        override fun copyForChild(): CopyableThreadContextElement<String?> {
            log += "copy"
            return Copied(local.get() ?: value, log)
        }

        override fun mergeForChild(overwritingElement: CoroutineContext.Element): CoroutineContext {
            log += "merge"
            return Copied("$value and ${(overwritingElement as Copied).value}", log)
        }
    }

    private object CopiedKey : CoroutineContext.Key<Copied>

    @Test
    fun copyableElement_ofTheCaller_isCopiedOnTheCallersThread() {
        val log = ArrayList<String>()
        runBlocking(Copied("caller", log)) {
            log.clear()
            local.set("written since") // no other coroutine sees the element itself
            assertEquals("written since", scheduler.run { local.get() })
            assertEquals(listOf("copy"), log)
        }
    }

    @Test
    fun copyableElement_ofScopeAndCaller_isMerged() {
        val log = ArrayList<String>()
        val scheduler = TaskScheduler(CoroutineScope(thread + Copied("scope", log)), 1)
        runBlocking {
            val task = scheduler.schedule(context = Copied("given", log)) { local.get() }
            assertEquals("scope and given", task.await())
            assertEquals(listOf("merge"), log)
        }
    }
}
