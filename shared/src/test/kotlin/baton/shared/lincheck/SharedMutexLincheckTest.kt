package baton.shared.lincheck

import baton.lincheck.world.LincheckCase
import baton.shared.word.MutexWord
import java.util.concurrent.atomic.AtomicInteger
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param

/** The transitions of the word, by two members. A member that dies within its section can be taken over. */
@Param(name = "slot", gen = IntGen::class, conf = "1:2")
class SharedMutexLincheckTest : LincheckCase {
    override val model: Class<*>
        get() = SharedMutexSequential::class.java

    override val generated
        get() = 40

    private val word = AtomicInteger()

    /** Free or abandoned: 1 or 2; 0 if it is held. */
    @Operation
    fun tryLock(@Param(name = "slot") slot: Int): Int {
        while (true) {
            val seen = word.get()
            if (!MutexWord.isFree(seen)) return 0
            val next = MutexWord.acquired(seen, MutexWord.owner(slot, 1), slept = false)
            if (word.compareAndSet(seen, next)) return if (MutexWord.isAbandoned(seen)) 2 else 1
        }
    }

    @Operation fun unlock(@Param(name = "slot") slot: Int) = leave(slot) { MutexWord.released(it, isConsistent = true) }

    @Operation
    fun unlockMarked(@Param(name = "slot") slot: Int) = leave(slot) { MutexWord.released(it, isConsistent = false) }

    @Operation fun giveUp(@Param(name = "slot") slot: Int) = leave(slot) { MutexWord.givenUp() }

    /** False if the member does not hold it. */
    private inline fun leave(slot: Int, next: (Int) -> Int): Boolean {
        while (true) {
            val seen = word.get()
            if (MutexWord.ownerOf(seen) != MutexWord.owner(slot, 1)) return false
            if (word.compareAndSet(seen, next(seen))) return true
        }
    }

    @Operation
    fun takeOver(@Param(name = "slot") slot: Int): Boolean {
        while (true) {
            val seen = word.get()
            val dead = MutexWord.slotOf(seen)
            if (dead == 0 || dead == slot) return false
            if (word.compareAndSet(seen, MutexWord.takenOver(MutexWord.owner(slot, 1)))) return true
        }
    }

    @Operation
    fun announceWaiter() {
        while (true) {
            val seen = word.get()
            if (MutexWord.isFree(seen) || word.compareAndSet(seen, MutexWord.withWaiters(seen))) return
        }
    }
}

internal class SharedMutexSequential {
    private var holder = 0
    private var isMarked = false

    fun tryLock(slot: Int): Int {
        if (holder != 0) return 0
        holder = slot
        return if (isMarked) 2 else 1
    }

    fun unlock(slot: Int) = leave(slot, false)

    fun unlockMarked(slot: Int) = leave(slot, isMarked)

    fun giveUp(slot: Int) = leave(slot, true)

    private fun leave(slot: Int, marked: Boolean): Boolean {
        if (holder != slot) return false
        holder = 0
        isMarked = marked
        return true
    }

    fun takeOver(slot: Int): Boolean {
        if (holder == 0 || holder == slot) return false
        holder = slot
        isMarked = true
        return true
    }

    fun announceWaiter() = Unit
}
