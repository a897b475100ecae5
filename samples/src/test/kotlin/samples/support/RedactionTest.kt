package samples.support

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource

class RedactionTest {
    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        textBlock =
            """
            no driver for jdbc:mysql://h/db?user=u&password=p | no driver for jdbc:mysql://h/db?user=***
            URL jdbc:h2:~/a;MODE=x;PASSWORD=a\;b is wrong     | URL jdbc:h2:~/a;MODE=*** is wrong
            at https://u:p@h:80/x?y of two                    | at https://***@h:80/x?y of two
            at https://token@h/                               | at https://***@h/
            at https://u:p@q/r@h/                             | at https://***@h/
            jdbc:oracle:thin:u/p@h                            | ***@h
            u:p@h                                             | ***@h
            sslpassword = p, Password=q                       | sslpassword = *** Password=***
            db@eu-west down (connection lost)                 | db@eu-west down (connection lost)
            checks at 72 % of the limit                       | checks at 72 % of the limit
            a{name="checks",type="Schedule"} 200.0            | a{name="checks",type="Schedule"} 200.0""",
    )
    fun text_isPrintedWithoutUserInfoAndParameters(text: String, redacted: String) {
        assertEquals(redacted, Redaction.GENERAL.of(text))
    }

    @Test
    fun password_ofAKnownUrl_isFoundAlone_inEachForm() {
        val redaction = Redaction("jdbc:h2:a;USER=user;PASSWORD=one\\;two three-four;MODE=mode")
        assertEquals(
            "user mode *** *** ***",
            redaction.of("user mode one\\;two three-four one;two three-four three-four"),
        )
        assertEquals("*** and ***", Redaction("jdbc:p:a?sslpassword=a%2Dbcd").of("a%2Dbcd and a-bcd"))
        assertEquals("a", Redaction("jdbc:p:a?password=a").of("a"))
    }

    @Test
    @Timeout(120, threadMode = SEPARATE_THREAD)
    fun text_long_isNotSearchedForEver() {
        for (part in listOf(":", "@", ":@", "//", "?a", "a", ";=", "password")) Redaction.GENERAL.of(
            part.repeat(200_000)
        )
    }
}
