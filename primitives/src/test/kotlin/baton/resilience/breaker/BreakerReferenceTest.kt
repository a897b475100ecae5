package baton.resilience.breaker

import kotlin.random.Random
import org.junit.jupiter.api.Test

class BreakerReferenceTest {
    @Test
    fun randomSteps_changeTheBreakerAsTheReference() {
        val random = Random(1)
        repeat(200) { BreakerAgainstReference(random).run(500) }
    }
}

class BreakerReferenceDeepTest {
    @Test
    fun tenMillionRandomSteps_changeTheBreakerAsTheReference() {
        repeat(20_000) { BreakerAgainstReference(Random(it)).run(500) }
    }
}
