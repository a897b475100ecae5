package baton.scheduler

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

class KeyCodecTest {
    @ParameterizedTest
    @ValueSource(strings = ["", " ", "a", "a\u0000b", "ключ", "𝄞", "https://example.org/?q=1"])
    fun string_isItsOwnText(key: String) {
        assertEquals(key, KeyCodec.STRING.encode(key))
        assertEquals(key, KeyCodec.STRING.decode(key))
    }

    @ParameterizedTest
    @ValueSource(longs = [0, 1, -1, 1234567890123, Long.MAX_VALUE, Long.MIN_VALUE])
    fun long_isReadAsWritten(key: Long) {
        assertEquals(key.toString(), KeyCodec.LONG.encode(key))
        assertEquals(key, KeyCodec.LONG.decode(KeyCodec.LONG.encode(key)))
    }

    @ParameterizedTest
    @ValueSource(strings = ["", "a", "1.0", "0x1", "9223372036854775808", " 1"])
    fun long_ofAnotherText_isRefused(text: String) {
        assertThrows(IllegalArgumentException::class.java) { KeyCodec.LONG.decode(text) }
    }
}
