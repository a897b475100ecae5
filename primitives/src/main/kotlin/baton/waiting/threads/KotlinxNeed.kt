package baton.waiting.threads

import baton.InternalBatonApi
import java.lang.reflect.Method
import java.lang.reflect.Modifier
import kotlinx.coroutines.Job

/**
 * The parts of kotlinx.coroutines' API that a class of Baton uses although kotlinx does not guarantee them. Without a
 * check, the lack of a part would show late: as an error in the middle of an operation, or as a callback that never
 * runs. So the class calls [require] before each use. Code that uses no such part is not affected.
 *
 * @param user the subject of the message, in the plural.
 * @param members the members of `kotlinx.coroutines` that must exist, as `Owner.name(Type, Type)`.
 * @param implementations the classes of Baton that must have a body for each method that kotlinx may call.
 */
@InternalBatonApi
public class KotlinxNeed(
    private val user: String,
    private val members: List<String>,
    private val implementations: () -> List<Class<*>> = { emptyList() },
) {
    private val missing: String? by lazy {
        try {
            members.firstOrNull { !exists(it) } ?: implementations().firstNotNullOfOrNull(::methodWithoutBody)
        } catch (e: LinkageError) {
            e.toString()
        }
    }

    /**
     * Does nothing if all parts exist. The search runs once, at the first call.
     *
     * @throws IllegalStateException if a part is missing, at each call; the message names the missing part, the version
     *   that was found and the versions that work.
     */
    public fun require() {
        val missing = missing ?: return
        error(
            "$user do not work with kotlinx.coroutines $version, which lacks $missing. Use $WORKING with the kotlin-stdlib " +
                "that it asks for; with Spring Boot, set the Maven properties kotlin-coroutines.version and kotlin.version"
        )
    }

    /** The member may be protected, or declared by a superclass. */
    private fun exists(member: String): Boolean {
        val owner = member.substringBefore('(').substringBeforeLast('.')
        val found =
            try {
                Class.forName("kotlinx.coroutines.$owner", false, LOADER)
            } catch (_: ClassNotFoundException) {
                return false
            }
        return generateSequence(found) { it.superclass }
            .flatMap { it.declaredMethods.asSequence() + it.methods }
            .any { "$owner.${signatureOf(it)}" == member }
    }

    private fun methodWithoutBody(type: Class<*>): String? =
        type.methods.firstOrNull { Modifier.isAbstract(it.modifiers) }?.let { "a body for ${signatureOf(it)}" }

    private companion object {
        const val WORKING = "1.8.1 to 1.11.0"
        val LOADER: ClassLoader? = Job::class.java.classLoader

        val version: String
            get() =
                LOADER?.getResource("META-INF/kotlinx_coroutines_core.version")?.readText()?.trim()
                    ?: "(unknown version)"

        fun signatureOf(method: Method): String =
            method.parameterTypes.joinToString(", ", "${method.name}(", ")") { it.simpleName }
    }
}
