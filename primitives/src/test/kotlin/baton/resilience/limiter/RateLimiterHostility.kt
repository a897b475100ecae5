package baton.resilience.limiter

import baton.hostile.HostileCase
import baton.hostile.HostileCrowd
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ArgumentsSource

/** Some of the waiters have a dispatcher with a fault. The others are served, and no token is lost or used twice. */
interface RateLimiterHostility : RateLimiterFixture {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Once::class)
    fun acquire_hostileDispatcher_servesTheOthersAndLosesNoToken(case: HostileCase) = serve(case)

    fun serve(case: HostileCase) {
        val paced = PacedLimiter(faceOf, burst = 1)
        val crowd = HostileCrowd(case)
        crowd.pairs(3) {
            repeat(2) {
                paced.face.acquire()
                pause()
                paced.refill()
            }
        }
        crowd.unleash(onLost = { paced.refill() }) { paced.refill() }
        crowd.assertEnds()
        assertEquals(0, paced.face.waiting)
        assertEquals(1, paced.available)
    }
}

/** Each resumption comes twice, the second late; it is ignored. */
interface RateLimiterRunTwice : RateLimiterHostility {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Twice::class)
    fun acquire_taskIsRunTwice_secondRunIsIgnored(case: HostileCase) = serve(case)
}
