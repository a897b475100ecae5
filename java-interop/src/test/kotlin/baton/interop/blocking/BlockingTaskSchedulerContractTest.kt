package baton.interop.blocking

import baton.Priority.NORMAL
import baton.callBlockingOfAnyKotlinx as runBlocking
import baton.interop.AsyncTaskScheduler
import baton.interop.TaskOptions
import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaitingKind
import baton.waiting.contract.WaitingPlace
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.function.Supplier
import kotlin.time.Duration
import kotlinx.coroutines.future.await
import org.junit.jupiter.api.Assertions.assertEquals

/** Calls of threads wait for the slot, alone and in turn with Java tasks and coroutines. */
class BlockingTaskSchedulerContractTest : WaiterContract {
    override val waitingKinds: List<WaitingKind>
        get() =
            listOf(false, true).map { isMixed ->
                WaitingKind("call(), mixed = $isMixed", grantsAll = true, keepsGrant = false) { SlotPlace(isMixed) }
            }
}

/** A grant ends the task that has the only slot. The calls that wait then run one after the other. */
private class SlotPlace(isMixed: Boolean) : WaitingPlace {
    private val scheduler = AsyncTaskScheduler.create(1)
    private val gate = CompletableFuture<Unit>()
    private val calls = ThreadCalls(::waiting)
    private val others =
        Turns<suspend () -> Unit>(
            isMixed,
            { scheduler.schedule(TaskOptions.of(NORMAL).withExecutor(Runnable::run), Callable {}).await() },
            { scheduler.kotlin().run(NORMAL) {} },
        )

    init {
        scheduler.schedule(NORMAL, Supplier { gate })
    }

    override val waiting: Int
        get() = scheduler.metrics().queued

    override suspend fun waitHere() {
        val other = others.next()
        calls.call(undo = {}) { if (other == null) scheduler.blocking().call(NORMAL) {} else runBlocking { other() } }
    }

    override suspend fun waitHere(timeout: Duration) = throw UnsupportedOperationException("in real time")

    override fun grant() =
        calls.step {
            gate.complete(Unit)
            calls.await("calls are left") { waiting == 0 }
        }

    override fun assertIdle(holders: Int) {
        assertEquals(0, waiting)
        grant()
        assertEquals(1, scheduler.blocking().call(NORMAL) { 1 })
    }
}
