package guide.testing

import baton.distributed.Cluster
import baton.test.simulate
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The code of "Machines that fail" in docs/testing.md. */
class SimulateExamplesTest {
    class Bank {
        private val paid = ArrayList<String>()
        private var lastToken = 0L

        fun payouts(invoice: String) = paid.count { it == invoice }

        suspend fun isPaid(invoice: String): Boolean {
            delay(1.seconds)
            return invoice in paid
        }

        suspend fun pay(invoice: String, token: Long) {
            delay(1.seconds)
            if (token < lastToken) return // of a holder that has lost its lease
            lastToken = token
            paid += invoice
        }
    }

    class PayoutJob(private val cluster: Cluster, private val bank: Bank) {
        suspend fun run() =
            cluster.mutex("payout").withLock { lease ->
                if (!bank.isPaid("inv-7")) bank.pay("inv-7", lease.fencingToken)
            }
    }

    @Test
    fun paidOnce() =
        simulate(seeds = 1_000) {
            val bank = Bank()
            repeat(3) { node { PayoutJob(cluster, bank).run() } }
            faults {
                stop(15.seconds)
                loseAnswers()
                emptyStore()
            }
            always { bank.payouts("inv-7") <= 1 }
        }

    /** The message on the page is of this one. */
    @Test
    fun withoutTheToken_itIsPaidTwice() {
        val error =
            assertThrows(AssertionError::class.java) {
                simulate(seeds = 1_000) {
                    val bank = Bank()
                    repeat(3) {
                        node {
                            cluster.mutex("payout").withLock {
                                if (!bank.isPaid("inv-7")) bank.pay("inv-7", Long.MAX_VALUE)
                            }
                        }
                    }
                    faults {
                        stop(15.seconds)
                        loseAnswers()
                        emptyStore()
                    }
                    always { bank.payouts("inv-7") <= 1 }
                }
            }
        assertTrue("goes on" in "$error", "$error")
    }
}
