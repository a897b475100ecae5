package samples.support

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class QuotaCountsTest {
    /** A good import: 20 calls into the outage, and 7 that the breaker refused; all are repeated. */
    private fun counts(
        stored: Int = 100,
        calls: Int = 120,
        overQuota: Int = 0,
        intoOutage: Int = 20,
        answered: Int = 100,
        failed: Int = 0,
        retries: Int = 27,
        openings: Int = 2,
    ) = QuotaCounts(100, stored, calls, overQuota, intoOutage, answered, failed, retries, 7, openings)

    @Test
    fun faults_ofAGoodImport_areNone() {
        assertEquals(emptyList<String>(), counts().faults())
    }

    @Test
    fun faults_nameALostRecord() {
        assertEquals(listOf("99 of 100 records arrived"), counts(stored = 99).faults())
        assertEquals(listOf("99 of 100 records were answered with 200"), counts(answered = 99, failed = 1).faults())
    }

    @Test
    fun faults_nameALostCall() {
        assertEquals(listOf("120 calls were sent, and 119 reached the server"), counts(calls = 119).faults())
    }

    @Test
    fun faults_nameARefusalByTheQuota() {
        assertEquals(listOf("1 calls were refused with 429"), counts(overQuota = 1).faults())
    }

    @Test
    fun faults_nameTooManyCallsIntoTheOutage_byTheOpenings() {
        assertEquals(emptyList<String>(), counts(intoOutage = 47).faults())
        assertEquals(listOf("48 calls went into the outage, more than 47"), counts(intoOutage = 48).faults())
    }

    @Test
    fun limits_areWithinTheQuotaOfTheServer_andTheWindowHoldsAllFailures() {
        assertTrue(QuotaLimits.RATE <= QuotaLimits.SERVER_RATE)
        assertTrue(QuotaLimits.BURST + QuotaLimits.UNDER_WAY <= QuotaLimits.SERVER_BURST)
        assertTrue(QuotaLimits.FAILURES + QuotaLimits.UNDER_WAY <= QuotaLimits.WINDOW)
    }
}
