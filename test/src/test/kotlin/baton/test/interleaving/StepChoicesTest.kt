package baton.test.interleaving

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class StepChoicesTest {
    @Test
    fun text_isReadAsItIsWritten() {
        for (text in listOf("", "1=1", "4=1 9=x2", "12=x10 99999=3")) {
            assertEquals(text, StepChoices.parse(text).toString())
        }
    }

    @Test
    fun choices_areUsualBehindTheLast() {
        val choices = StepChoices.parse("2=3 4=x1")
        assertEquals(listOf(0, 3, 0, -1, 0, 0), (0..5).map { choices[it] })
        assertEquals(4, choices.size)
        assertTrue(choices.hasCancel())
    }

    @Test
    fun part_hasTheGivenStepsAlone() {
        val choices = StepChoices.parse("2=3 4=x1 6=1")
        assertEquals("2=3 6=1", choices.only(listOf(1, 5)).toString())
        assertFalse(choices.only(listOf(1, 5)).hasCancel())
        assertEquals("2=3 4=x1 6=1 9=2", choices.plus(8, 2).toString())
    }
}
