package baton.monitoring

import baton.monitoring.core.callOfInlined
import baton.monitoring.core.lineOfCall
import baton.sync.Mutex
import baton.sync.withLock
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test

class InlinedLinesTest {
    private val map =
        """
        SMAP
        Hang.kt
        Kotlin
        *S Kotlin
        *F
        + 1 Hang.kt
        HangKt
        + 2 Mutex.kt
        baton/sync/MutexKt
        *L
        1#1,63:1
        224#2,8:64
        *S KotlinDebug
        *F
        + 1 Hang.kt
        HangKt
        *L
        58#1:64,8
        59:72,4
        7#1,3:90,2
        *E
        """
            .trimIndent()

    @Test
    fun lineOfCall_inAnInlinedBody_isThatOfTheCall() {
        assertEquals(listOf(58, 58, 59, 59), listOf(64, 71, 72, 75).map { lineOfCall(map, it) })
    }

    @Test
    fun lineOfCall_ofARepeatedRange_countsTheLinesOfTheFile() {
        assertEquals(listOf(7, 7, 8, 9, 9), listOf(90, 91, 92, 94, 95).map { lineOfCall(map, it) })
    }

    @Test
    fun lineOfCall_ofTheFileItself_orPastTheMap_isUnknown() {
        assertEquals(listOf(null, null, null), listOf(58, 76, 96).map { lineOfCall(map, it) })
    }

    @Test
    fun lineOfCall_ofAClassWithoutTheMap_isUnknown() {
        assertNull(lineOfCall("", 64))
        assertNull(lineOfCall(map.substringBefore("*S KotlinDebug"), 64))
        assertNull(lineOfCall(map.substringBefore("58#1"), 64))
    }

    @Test
    fun callOfInlined_ofAnUnknownClass_orAJavaFrame_isTheFrame() {
        val gone = StackTraceElement("no.such.Class", "run", "Class.kt", 99)
        val java = StackTraceElement(javaClass.name, "run", "Some.java", 99)
        assertSame(gone, callOfInlined(gone))
        assertSame(java, callOfInlined(java))
    }

    @Test
    fun callOfInlined_ofAFrameInAnInlinedBody_namesItsCall() = runTest {
        val inBody = Mutex().withFrame { Throwable().stackTrace.first() } // the frame and the call have this line
        assertEquals(Throwable().stackTrace.first().lineNumber - 1, callOfInlined(inBody.first).lineNumber)
        assertSame(inBody.second, callOfInlined(inBody.second))
    }

    /** Returns a frame of the inlined body, and the one that [inner] makes. */
    private suspend inline fun <T> Mutex.withFrame(inner: () -> T): Pair<StackTraceElement, T> = withLock {
        Throwable().stackTrace.first() to inner()
    }
}
