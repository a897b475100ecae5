package baton.lincheck

import baton.Priority
import baton.lincheck.world.Effort
import baton.lincheck.world.LincheckBoosts
import baton.waiting.boost.Boosts
import kotlin.coroutines.CoroutineContext
import org.jetbrains.lincheck.datastructures.Validate
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach

/** Those who lock are of several levels and can be lifted: the mutex does the same, nobody is lifted for nothing. */
open class MutexBoostLincheckTest : HonestMutexLincheckBase() {
    override val generated get() = 8

    override val spins get() = Effort.SPINS_OVER_LEVELS
    private val boosts = LincheckBoosts()

    @BeforeEach
    fun begin() {
        Boosts.begin()
    }

    @AfterEach
    fun end() {
        Boosts.inUse = false
    }

    override fun extra(thread: Int): CoroutineContext = boosts + Priority.entries[thread % Priority.entries.size]

    /** One holder, one boost; none where nobody waits, or nobody is known to hold it. */
    @Validate
    fun boosts() {
        val wanted = mutex.isLocked && mutex.waiting > 0
        check(boosts.given <= if (wanted) 1 else 0) { "${boosts.given} boosts, $mutex" }
    }
}

class MutexBoostLincheckDeepTest : MutexBoostLincheckTest() {
    override val effort get() = Effort.DEEP
}
