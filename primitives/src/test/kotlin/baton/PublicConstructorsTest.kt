package baton

import java.lang.reflect.Modifier
import java.nio.file.Files
import java.nio.file.Path
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * The Kotlin compiler's message for a wrong call of a constructor names the parameters of all constructors of the
 * class, internal ones included: `CircuitBreaker(config, nam = "x")` was answered by "no value passed for parameter
 * 'clock'".
 */
class PublicConstructorsTest {
    @Test
    fun classWithAPublicConstructor_hasNoInternalOne() {
        val published = HashMap<String, Int>()
        var type = ""
        for (line in Files.readAllLines(Path.of("api/baton-primitives.api"))) {
            CLASS.find(line)?.let { type = it.groupValues[1].replace('/', '.') }
            if (CONSTRUCTOR in line) published.merge(type, 1, Int::plus)
        }
        assertTrue(published.size > 20) { "$published" }
        val different = published.filter { (name, count) -> constructorsOf(name) != count }
        assertEquals(emptyMap<String, Int>(), different)
    }

    private fun constructorsOf(name: String) =
        Class.forName(name).declaredConstructors.count { !Modifier.isPrivate(it.modifiers) }

    private companion object {
        private val CLASS = Regex("""class (baton/\S+) """)
        private const val CONSTRUCTOR = "fun <init> "
    }
}
