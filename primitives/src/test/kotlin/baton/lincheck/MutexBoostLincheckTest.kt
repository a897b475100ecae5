package baton.lincheck

import baton.Priority
import baton.lincheck.world.Effort
import baton.lincheck.world.LincheckBoosts
import baton.waiting.boost.Boosts
import kotlin.coroutines.CoroutineContext
import org.jetbrains.lincheck.datastructures.Validate
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach

/** Callers lock at several levels and can be boosted. The mutex behaves the same, and boosts no holder needlessly. */
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

    /** One boost for one holder. No boost if no caller waits, or if the holder is unknown. */
    @Validate
    fun boosts() {
        val wanted = mutex.isLocked && mutex.waiting > 0
        check(boosts.given <= if (wanted) 1 else 0) { "${boosts.given} boosts, $mutex" }
    }
}

class MutexBoostLincheckDeepTest : MutexBoostLincheckTest() {
    override val effort get() = Effort.DEEP
}
