package baton.resilience

import io.kotest.core.spec.style.FunSpec
import io.kotest.matchers.shouldBe
import io.kotest.property.Arb
import io.kotest.property.arbitrary.bigInt
import io.kotest.property.arbitrary.element
import io.kotest.property.arbitrary.long
import io.kotest.property.arbitrary.string
import io.kotest.property.checkAll
import java.time.Instant
import java.time.InstantSource
import java.time.ZoneOffset
import java.time.format.DateTimeFormatter
import java.util.Locale
import java.util.TimeZone
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** The header in all its forms. */
class RetryAfterSpec :
    FunSpec({
        test("digits are seconds, and beyond every range a very long wait") {
            checkAll(Arb.bigInt(1..200)) { number ->
                val digits = number.abs().toString()
                val parsed = RetryAfter.parse(" $digits\t")
                if (number.bitLength() < 62) parsed shouldBe number.abs().toLong().seconds
                else (parsed!! >= Long.MAX_VALUE.milliseconds) shouldBe true
            }
            RetryAfter.parse("000") shouldBe Duration.ZERO
        }

        test("dates of three formats, in any default locale and zone") {
            val locale = Locale.getDefault()
            val zone = TimeZone.getDefault()
            try {
                checkAll(formats, locales, zones, Arb.long(0L..2_000_000_000), Arb.long(-100_000L..100_000)) {
                    format,
                    tag,
                    id,
                    now,
                    ahead ->
                    Locale.setDefault(Locale.forLanguageTag(tag))
                    TimeZone.setDefault(TimeZone.getTimeZone(id))
                    val header = format.format(Instant.ofEpochSecond(now + ahead))
                    RetryAfter.parse(header, at(now)) shouldBe maxOf(ahead, 0).seconds
                }
            } finally {
                Locale.setDefault(locale)
                TimeZone.setDefault(zone)
            }
        }

        test("parts of a millisecond round up, at every time of the clock") {
            val date = Instant.parse("1994-11-06T08:49:37Z")
            for (nanos in listOf(1L, 999_999, 1_000_000, 1_000_001, 999_999_999)) {
                val parsed = RetryAfter.parse("Sun, 06 Nov 1994 08:49:37 GMT") { date.minusNanos(nanos) }
                parsed shouldBe ((nanos + 999_999) / 1_000_000).milliseconds
            }
            RetryAfter.parse("Sun, 06 Nov 1994 08:49:37 GMT") { Instant.MAX } shouldBe Duration.ZERO
            (RetryAfter.parse("Sun, 06 Nov 1994 08:49:37 GMT") { Instant.MIN }!! > 1_000_000.seconds) shouldBe true
        }

        test("two digits are the year that is at most 50 years ahead") {
            val now = InstantSource.fixed(Instant.parse("2026-11-23T00:00:00Z"))
            RetryAfter.parse("Monday, 23-Nov-76 00:00:00 GMT", now)!!.inWholeDays shouldBe 18_263
            RetryAfter.parse("Tuesday, 24-Nov-76 00:00:00 GMT", now) shouldBe Duration.ZERO
            RetryAfter.parse("Sunday, 06-Nov-94 08:49:37 GMT", now) shouldBe Duration.ZERO
            val late = InstantSource.fixed(Instant.parse("2099-12-31T23:59:50Z"))
            RetryAfter.parse("Friday, 01-Jan-00 00:00:00 GMT", late) shouldBe 10.seconds
        }

        test("a leap second is the second after") {
            val now = InstantSource.fixed(Instant.parse("2016-12-31T23:59:59Z"))
            RetryAfter.parse("Sat, 31 Dec 2016 23:59:60 GMT", now) shouldBe 1.seconds
        }

        test("what is neither is none") {
            val malformed =
                listOf(null, "", " ", "-1", "+1", "1.5", "1 2", "soon", "1e3", "١٢", "Sun, 31 Feb 2027 00:00:00 GMT") +
                    listOf("Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 6 Nov 1994") +
                    listOf("sun, 06 nov 1994 08:49:37 gmt", "Sun Nov 00 08:49:37 1994", "2027-01-01T00:00:00Z")
            for (header in malformed) RetryAfter.parse(header) shouldBe null
            checkAll(Arb.string()) { text ->
                if (text.trim(' ', '\t').any { it !in '0'..'9' }) RetryAfter.parse(text) shouldBe null
            }
        }
    }) {
    private companion object {
        fun at(second: Long): InstantSource = InstantSource.fixed(Instant.ofEpochSecond(second))

        fun format(pattern: String): DateTimeFormatter =
            DateTimeFormatter.ofPattern(pattern, Locale.US).withZone(ZoneOffset.UTC)

        val formats =
            Arb.element(
                format("EEE, dd MMM yyyy HH:mm:ss 'GMT'"),
                format("EEEE, dd-MMM-yy HH:mm:ss 'GMT'"),
                format("EEE MMM ppd HH:mm:ss yyyy"),
            )
        val locales = Arb.element("de-DE", "ar-EG-u-nu-arab", "th-TH-u-ca-buddhist-nu-thai", "tr-TR", "ja-JP")
        val zones = Arb.element("Asia/Kolkata", "America/St_Johns", "Pacific/Apia", "UTC")
    }
}
