package baton.scheduler.schedule

/**
 * Reports the failures of a store once for each outage, which lasts until every call that has failed has worked again.
 * A flow of edits that has failed shows no sign when it works again. So its failure is reported unless a call fails,
 * and does not hold back the reports of calls.
 */
internal class StoreOutage(private val report: (Throwable) -> Unit) {
    enum class Call {
        LOAD,
        APPLY,
        RENEW,
    }

    private val failing = HashSet<Call>()
    private var hasNoEdits = false

    fun failed(call: Call, failure: Throwable) {
        val isNew = synchronized(failing) { failing.isEmpty().also { failing += call } }
        if (isNew) report(failure)
    }

    fun worked(call: Call) {
        synchronized(failing) { failing -= call }
    }

    fun editsFailed(failure: Throwable) {
        val isNew = synchronized(failing) { (failing.isEmpty() && !hasNoEdits).also { hasNoEdits = true } }
        if (isNew) report(failure)
    }

    fun editsWorked() {
        synchronized(failing) { hasNoEdits = false }
    }
}
