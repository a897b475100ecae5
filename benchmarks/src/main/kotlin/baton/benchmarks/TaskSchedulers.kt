package baton.benchmarks

import baton.Priority
import baton.interop.AsyncTaskScheduler
import baton.scheduler.TaskScheduler
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.Future
import java.util.concurrent.FutureTask
import java.util.concurrent.PriorityBlockingQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withPermit

/** A scheduler that runs a bounded number of tasks at a time, the most urgent first. */
abstract class Tasks : AutoCloseable {
    /** Schedules a task that does nothing; the returned object can be awaited and cancelled. */
    abstract fun schedule(level: Priority): Any

    abstract fun await(tasks: Array<Any?>)

    abstract fun cancel(task: Any)

    /** While true, no task is started. */
    abstract fun pause(isPaused: Boolean)

    abstract val queued: Int
}

fun tasks(impl: String, concurrency: Int): Tasks =
    when (impl) {
        "baton" -> BatonTasks(concurrency)
        "batonJava" -> BatonJavaTasks(concurrency)
        "async" -> AsyncTasks(concurrency)
        "asyncPermit" -> AsyncPermitTasks(concurrency)
        "pbq" -> PriorityBlockingQueueTasks(concurrency)
        else -> throw IllegalArgumentException("impl = $impl")
    }

private class BatonTasks(concurrency: Int) : Tasks() {
    private val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Default), concurrency)

    override fun schedule(level: Priority): Any = scheduler.schedule(level) {}

    override fun await(tasks: Array<Any?>) = runBlocking { for (task in tasks) (task as Deferred<*>).await() }

    override fun cancel(task: Any) = (task as Deferred<*>).cancel()

    override fun pause(isPaused: Boolean) = if (isPaused) scheduler.pause() else scheduler.resume()

    override val queued: Int
        get() = scheduler.metrics.queued

    override fun close() = scheduler.close()
}

private class BatonJavaTasks(concurrency: Int) : Tasks() {
    private val pool = Executors.newFixedThreadPool(concurrency) { Thread(it).apply { isDaemon = true } }
    private val scheduler = AsyncTaskScheduler.builder(concurrency).executor(pool).build()

    override fun schedule(level: Priority): Any = scheduler.schedule(level, Callable { 1 })

    override fun await(tasks: Array<Any?>) = tasks.forEach { (it as CompletableFuture<*>).join() }

    override fun cancel(task: Any) {
        (task as CompletableFuture<*>).cancel(false)
    }

    override fun pause(isPaused: Boolean) = if (isPaused) scheduler.pause() else scheduler.resume()

    override val queued: Int
        get() = scheduler.metrics().queued

    override fun close() {
        scheduler.closeNow()
        pool.shutdownNow()
    }
}

/** Kotlin's own means, without levels: coroutines on a limited dispatcher, which bounds running blocks, not tasks. */
private class AsyncTasks(private val concurrency: Int) : Tasks() {
    private val scope = CoroutineScope(Dispatchers.Default.limitedParallelism(concurrency))
    private var gate: CountDownLatch? = null

    override fun schedule(level: Priority): Any = scope.async {}

    override fun await(tasks: Array<Any?>) = runBlocking { for (task in tasks) (task as Deferred<*>).await() }

    override fun cancel(task: Any) = (task as Deferred<*>).cancel()

    /** Blocks all workers. */
    override fun pause(isPaused: Boolean) {
        gate?.countDown()
        gate = null
        if (!isPaused) return
        val gate = CountDownLatch(1).also { this.gate = it }
        val blocked = CountDownLatch(concurrency)
        repeat(concurrency) {
            scope.launch {
                blocked.countDown()
                gate.await()
            }
        }
        blocked.await()
    }

    /** Not known: a cancelled coroutine stays in the dispatcher's queue. */
    override val queued: Int
        get() = throw UnsupportedOperationException()

    override fun close() = scope.cancel()
}

/** As [AsyncTasks], with a permit for each task: a bound on tasks, suspended ones included. */
private class AsyncPermitTasks(private val concurrency: Int) : Tasks() {
    private val scope = CoroutineScope(Dispatchers.Default)
    private val permits = Semaphore(concurrency)

    override fun schedule(level: Priority): Any = scope.async { permits.withPermit {} }

    override fun await(tasks: Array<Any?>) = runBlocking { for (task in tasks) (task as Deferred<*>).await() }

    override fun cancel(task: Any) = (task as Deferred<*>).cancel()

    override fun pause(isPaused: Boolean) = runBlocking {
        repeat(concurrency) { if (isPaused) permits.acquire() else permits.release() }
    }

    override val queued: Int
        get() = throw UnsupportedOperationException()

    override fun close() = scope.cancel()
}

/** The usual construction; a cancelled task is taken out of the queue, as Baton's is. */
private class PriorityBlockingQueueTasks(concurrency: Int) : Tasks() {
    private class Task(private val level: Int, private val number: Long) : FutureTask<Int>({ 1 }), Comparable<Task> {
        override fun compareTo(other: Task): Int =
            if (level != other.level) level.compareTo(other.level) else number.compareTo(other.number)
    }

    private val numbers = AtomicLong()
    private val threads =
        object :
            ThreadPoolExecutor(
                concurrency,
                concurrency,
                0,
                TimeUnit.SECONDS,
                PriorityBlockingQueue(),
                { Thread(it).apply { isDaemon = true } },
            ) {
            @Volatile var gate: CountDownLatch? = null

            override fun beforeExecute(thread: Thread, task: Runnable) {
                gate?.await()
            }
        }

    override fun schedule(level: Priority): Any = Task(level.ordinal, numbers.getAndIncrement()).also(threads::execute)

    override fun await(tasks: Array<Any?>) = tasks.forEach { (it as Future<*>).get() }

    override fun cancel(task: Any) {
        (task as Task).cancel(false)
        threads.remove(task)
    }

    override fun pause(isPaused: Boolean) {
        threads.gate?.countDown()
        threads.gate = if (isPaused) CountDownLatch(1) else null
    }

    override val queued: Int
        get() = threads.queue.size

    override fun close() {
        threads.shutdownNow()
    }
}
