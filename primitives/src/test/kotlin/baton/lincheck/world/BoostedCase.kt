package baton.lincheck.world

import baton.waiting.holders.Boosts
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach

/** A case in which [Boosts] are in use. */
interface BoostedCase {
    @BeforeEach
    fun beginBoosts() {
        Boosts.begin()
    }

    @AfterEach
    fun endBoosts() {
        Boosts.inUse = false
    }
}
