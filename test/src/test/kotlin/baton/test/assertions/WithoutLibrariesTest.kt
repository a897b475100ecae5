package baton.test.assertions

import java.io.File
import java.lang.reflect.InvocationTargetException
import java.net.URLClassLoader
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** In a project that has neither JUnit nor Kotest nor kotlinx-coroutines-test. */
class WithoutLibrariesTest {
    @Test
    fun failure_withoutJUnit_isAPlainAssertionError() {
        val path = System.getProperty("java.class.path").split(File.pathSeparator)
        val without = path.filterNot { Regex("junit|opentest4j|kotest|coroutines-test").containsMatchIn(File(it).name) }
        val urls = without.map { File(it).toURI().toURL() }.toTypedArray()
        URLClassLoader(urls, ClassLoader.getPlatformClassLoader()).use { loader ->
            assertThrows<ClassNotFoundException> { loader.loadClass("org.opentest4j.AssertionFailedError") }
            val mutex = loader.loadClass("baton.sync.Mutex").getConstructor(Boolean::class.java, String::class.java)
            val assertIdle = loader.loadClass("baton.test.BatonAssertions").getMethod("assertIdle", Any::class.java)
            assertIdle.invoke(null, mutex.newInstance(false, null))
            val thrown =
                assertThrows<InvocationTargetException> { assertIdle.invoke(null, mutex.newInstance(true, null)) }
            assertEquals(AssertionError::class.java, thrown.targetException.javaClass)
            for (name in listOf("ManualClock", "FakeScheduleStore")) {
                loader.loadClass("baton.test.$name").getConstructor().newInstance()
            }
        }
    }
}
