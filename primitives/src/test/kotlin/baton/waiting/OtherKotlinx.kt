package baton.waiting

import java.util.concurrent.Callable

/**
 * Loads the classes of Baton and of kotlinx.coroutines anew, with one member of the latter renamed. So kotlinx lacks
 * this member, as another version may, and it has an abstract method that the classes of Baton do not implement.
 */
class OtherKotlinx(private val type: String, private val member: String) :
    ClassLoader(OtherKotlinx::class.java.classLoader) {
    /** Calls the [Callable] of that class, loaded by this loader. */
    fun call(callable: Class<out Callable<String>>): String {
        val constructor = loadClass(callable.name).getDeclaredConstructor()
        constructor.isAccessible = true
        return (constructor.newInstance() as Callable<*>).call() as String
    }

    override fun loadClass(name: String, resolve: Boolean): Class<*> {
        if (!name.startsWith("baton.") && !name.startsWith("kotlinx.coroutines.")) return super.loadClass(name, resolve)
        synchronized(getClassLoadingLock(name)) {
            return findLoadedClass(name) ?: define(name)
        }
    }

    private fun define(name: String): Class<*> {
        val resource = getResourceAsStream(name.replace('.', '/') + ".class") ?: throw ClassNotFoundException(name)
        var code = resource.use { it.readBytes() }
        if (name == "kotlinx.coroutines.$type") {
            // One character more or less would change the length of the constant.
            val text = String(code, Charsets.ISO_8859_1)
            val renamed = text.replace(member, member.dropLast(1) + '_')
            check(renamed != text) { "$type has no $member" }
            code = renamed.toByteArray(Charsets.ISO_8859_1)
        }
        return defineClass(name, code, 0, code.size)
    }
}
