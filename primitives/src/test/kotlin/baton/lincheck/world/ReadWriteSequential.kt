package baton.lincheck.world

import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.UPGRADABLE
import baton.lincheck.world.ReadWriteMode.UPGRADE
import baton.lincheck.world.ReadWriteMode.WRITE
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

enum class ReadWriteMode {
    READ,
    WRITE,
    UPGRADABLE,
    UPGRADE,
}

/** A [ReadWriteLock] or its model. */
internal interface ReadWriteSubject {
    fun readers(): Int

    fun isWriteLocked(): Boolean

    fun waiting(): Int

    fun writeHolder(): Any?

    fun readHolders(): List<Any>

    fun tryLock(mode: ReadWriteMode, owner: Any? = null): Boolean

    suspend fun lock(mode: ReadWriteMode, owner: Any? = null, timer: Int = NO_TIMER): Boolean

    fun unlock(mode: ReadWriteMode, owner: Any? = null)

    fun downgrade(owner: Any? = null)

    fun timePasses(timer: Int)
}

/** Sequential specification of a [ReadWriteLock]: its holders, its waiters, and the next request to be admitted. */
internal class ReadWriteSequential(private val policy: ReadWritePolicy) : ReadWriteSubject {
    private data class Holder(val owner: Any?)

    private class Request(
        val mode: ReadWriteMode,
        val owner: Any?,
        val timer: Int,
        val caller: CancellableContinuation<Boolean>,
    ) {
        val kind
            get() = Triple(mode, owner, timer)

        val isIntent
            get() = mode == WRITE || mode == UPGRADABLE

        val barsReaders
            get() = mode == WRITE || mode == UPGRADE
    }

    private val reading = ArrayList<Holder>()
    private var upgradable: Holder? = null
    private var writer: Holder? = null
    private val line = ArrayList<Request>()

    private val readersWait
        get() = writer != null || (policy != ReadWritePolicy.READER_FIRST && line.any { it.barsReaders })

    override fun readers() = reading.size + listOfNotNull(upgradable).size

    override fun isWriteLocked() = writer != null

    override fun waiting() = line.size

    override fun writeHolder() = writer?.owner

    override fun readHolders() = (reading + upgradable).mapNotNull { it?.owner }.distinct()

    override fun tryLock(mode: ReadWriteMode, owner: Any?): Boolean {
        val me = Holder(owner)
        val reads = owner != null && me in reading
        val intends = owner != null && (me == upgradable || me == writer)
        check(
            when (mode) {
                READ -> owner == null || me != writer
                WRITE -> !intends && !reads
                UPGRADABLE -> !intends
                UPGRADE -> me == upgradable && !reads && line.none { it.mode == UPGRADE }
            }
        )
        val may =
            when (mode) {
                READ -> !readersWait
                UPGRADE -> reading.isEmpty()
                else -> isFreeFor(mode) && line.none { it.isIntent }
            }
        if (may) comeIn(mode, me)
        return may
    }

    override suspend fun lock(mode: ReadWriteMode, owner: Any?, timer: Int): Boolean {
        if (tryLock(mode, owner)) return true
        check(owner == null || !waitsForItself(mode, Holder(owner)))
        return suspendCancellableCoroutine { caller ->
            val request = Request(mode, owner, timer, caller)
            line += request
            caller.invokeOnCancellation {
                line -= request
                admit()
            }
        }
    }

    private fun waitsForItself(mode: ReadWriteMode, me: Holder) =
        when (mode) {
            READ -> me in reading || me == upgradable
            UPGRADABLE -> me in reading
            else -> false
        }

    override fun timePasses(timer: Int) {
        val request = line.find { it.timer == timer } ?: return
        line -= request
        request.caller.resume(false)
        admit()
    }

    override fun unlock(mode: ReadWriteMode, owner: Any?) {
        val me = Holder(owner)
        check(
            when (mode) {
                READ -> me in reading
                WRITE -> me == writer
                else -> me == upgradable && line.none { it.mode == UPGRADE }
            }
        )
        leave(mode, me)
    }

    override fun downgrade(owner: Any?) {
        check(writer == Holder(owner))
        reading += Holder(owner)
        leave(WRITE, Holder(owner))
    }

    private fun isFreeFor(mode: ReadWriteMode) =
        writer == null && upgradable == null && (mode == UPGRADABLE || reading.isEmpty())

    private fun comeIn(mode: ReadWriteMode, who: Holder) {
        when (mode) {
            READ -> reading += who
            WRITE -> writer = who
            UPGRADABLE -> upgradable = who
            UPGRADE -> {
                writer = who
                upgradable = null
            }
        }
    }

    private fun leave(mode: ReadWriteMode, who: Holder) {
        when (mode) {
            READ -> reading -= who
            WRITE -> {
                writer = null
                if (policy != ReadWritePolicy.WRITER_FIRST) line.filter { it.mode == READ }.forEach(::letIn)
            }
            UPGRADABLE -> upgradable = null
            UPGRADE -> {
                writer = null
                upgradable = who
            }
        }
        admit()
    }

    private fun admit() {
        while (true) letIn(next() ?: return)
    }

    private fun next(): Request? =
        line.find { it.mode == UPGRADE && reading.isEmpty() }
            ?: line.find { it.isIntent }?.takeIf { isFreeFor(it.mode) }
            ?: line.find { it.mode == READ && !readersWait }

    private fun letIn(request: Request) {
        val who = Holder(request.owner)
        line -= request
        comeIn(request.mode, who)
        request.caller.letIn { leave(request.mode, who) }
    }

    private val state
        get() = listOf(reading.groupingBy { it }.eachCount(), upgradable, writer, line.map { it.kind })

    override fun equals(other: Any?) = other is ReadWriteSequential && state == other.state

    override fun hashCode() = state.hashCode()
}
