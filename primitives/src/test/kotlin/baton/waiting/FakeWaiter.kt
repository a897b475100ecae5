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

/** Hands [refills] out, one for each grant that is taken back. */
internal class FakeCore(private val refills: Iterator<Waiter> = emptyList<Waiter>().iterator()) : WaitCore() {
    var withdrawn = 0
        private set
    var takenBack = 0
        private set

    override fun enqueue(waiter: Waiter): Int = throw UnsupportedOperationException()

    override fun withdraw(waiter: Waiter) {
        withdrawn++
    }

    override fun takeBack(waiter: Waiter) {
        takenBack++
        if (refills.hasNext()) {
            val next = refills.next()
            check(next.tryGrant())
            wake(next)
        }
    }

    override fun failure(waiter: Waiter): Throwable = IllegalStateException("${waiter.outcome}")

    /** Wakes [waiters] as one decision of the core would. */
    fun wakeTogether(waiters: List<Waiter>) {
        decide {
            for (waiter in waiters) {
                check(waiter.tryGrant())
                wake(waiter)
            }
        }
    }
}
