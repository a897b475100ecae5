package baton.waiting

/** A waiter without a coroutine. It counts its resumptions and failures. */
internal class FakeWaiter(
    core: WaitCore = FakeCore(),
    number: Int = 1,
    request: Any? = null,
    private val accepts: Boolean = true,
    private val onResume: () -> Unit = {},
) : Waiter(core, number, request) {
    var resumed = 0
        private set

    var failed = 0
        private set

    override fun resume(): Boolean {
        if (!accepts) return false
        resumed++
        onResume()
        return true
    }

    override fun resumeFailed() {
        failed++
    }
}

private fun Waiter.grant() {
    if (currentState == Waiter.WAITING) grantQueued() else check(tryGrant())
}

/** A core that decides nothing by itself. It hands [refills] out, one for each grant that is taken back. */
internal class FakeCore(private val refills: Iterator<Waiter> = emptyList<Waiter>().iterator()) : WaitCore() {
    val enqueued = ArrayList<Waiter>()
    var onWithdraw: (Waiter) -> Unit = {}
    var withdrawn = 0
        private set

    var takenBack = 0
        private set

    var lastTakenBack: Waiter? = null
        private set

    override fun label() = "fake core"

    override fun toString(): String = label()

    override fun verbOf(waiter: Waiter): String = "wait"

    override fun enqueue(waiter: Waiter): Int {
        enqueued += waiter
        waiter.startWaiting()
        return Waiter.WAITING
    }

    /** Whether its decisions lose the waiters that they take out of a queue. */
    var losesWaiters = false

    override fun isQueued(waiter: Waiter): Boolean = !losesWaiters && waiter.core === this

    override fun removeWithdrawn(waiter: Waiter) = withdrawMember(waiter)

    override fun withdrawMember(waiter: Waiter) {
        withdrawn++
        onWithdraw(waiter)
    }

    override fun takeBack(waiter: Waiter) {
        takenBack++
        lastTakenBack = waiter
        if (refills.hasNext()) {
            val next = refills.next()
            next.grant()
            wake(next)
        }
    }

    override fun failure(waiter: Waiter): Throwable = IllegalStateException("${waiter.outcome}")

    fun grant(waiter: Waiter) = wakeTogether(listOf(waiter))

    /** Wakes [waiters] as one decision of the core would. */
    fun wakeTogether(waiters: List<Waiter>) {
        decide {
            for (waiter in waiters) {
                waiter.grant()
                wake(waiter)
            }
        }
    }

    /** Ends [batch] and wakes it, and then [behind]. [meanwhile] runs after the end and before any member is woken. */
    fun end(batch: WaiterBatch, reason: Any? = null, behind: Waiter? = null, meanwhile: () -> Unit = {}) {
        decide {
            batch.end(reason)
            wake(batch)
            if (behind != null) {
                behind.grant()
                wake(behind)
            }
            meanwhile()
        }
    }
}
