package samples

import baton.distributed.Cluster
import baton.distributed.LeaseLostException
import java.io.PrintStream
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.future.await
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import samples.support.Cli
import samples.support.UplinkJob

/**
 * Four JVMs fetch from a server that serves five requests at a time and refuses a sixth at once. They share five
 * permits in a database. One JVM is killed and one is stopped for longer than its lease: no request is refused.
 *
 * A permit is good for as long as its lease, so a request must not be sent later than that. A JVM can be stopped
 * anywhere:
 * - While the server works on its requests: these came in time, and end long before another JVM gets the permits. This
 *   is where the sample stops one.
 * - Before `check`, which throws when the JVM goes on.
 * - Between `check` and the request, which then comes late. Only the server can refuse that one, by the token that each
 *   request carries. With a mutex the server remembers the greatest token, and refuses smaller ones. Holders of five
 *   permits have tokens in no order, so the greatest says nothing of the others: a server that must be safe from late
 *   requests needs five mutexes, one for each of its places, instead of a semaphore with five permits.
 */
class SharedUplink private constructor(cluster: Cluster, private val job: UplinkJob) {
    @Volatile private var isEnding = false
    private val atMostFive = cluster.semaphore("uplink", permits = UplinkJob.PERMITS)

    /** If the lease is lost meanwhile, the request is cancelled, and this throws. */
    private suspend fun fetch(): Int =
        atMostFive.withPermit { lease ->
            lease.check()
            job.fetch(lease.fencingToken).await()
        }

    /**
     * Ends after a request, not within it: the server would go on with that, and the permit could be used elsewhere.
     */
    private suspend fun fetchAll() {
        while (!isEnding) {
            try {
                fetch()
            } catch (loss: LeaseLostException) {
                job.lost(loss.message.orEmpty())
            }
        }
    }

    companion object {
        private fun work(job: UplinkJob) =
            job.openStore().use { store ->
                val cluster = Cluster.open(store, UplinkJob.LEASE_MILLIS.milliseconds, job.name())
                val uplink = SharedUplink(cluster, job)
                runBlocking(Dispatchers.Default) {
                    val callers = List(UplinkJob.CALLERS) { launch { uplink.fetchAll() } }
                    withContext(Dispatchers.IO) { job.awaitEnd() }
                    uplink.isEnding = true
                    callers.joinAll()
                    cluster.shutdown() // gives the permits back
                }
            }

        /** Returns the exit code: 0 if no request was refused. */
        fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
            Cli.runUplink(args, out, err, SharedUplink::class.java)

        @JvmStatic
        fun main(args: Array<String>) =
            if (UplinkJob.isIn(args)) UplinkJob.run(args, ::work) else Cli.exit(run(args, System.out, System.err))
    }
}
