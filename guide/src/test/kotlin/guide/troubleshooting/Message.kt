package guide.troubleshooting

import java.util.concurrent.CompletionException
import java.util.concurrent.ExecutionException
import kotlin.reflect.KClass

/**
 * A message of docs/troubleshooting.md, and a call that ends with it.
 *
 * @property shape the message, in which `…` stands for any text.
 * @property type that of the exception.
 */
class Message(val shape: String, val type: KClass<out Throwable>, private val provoke: suspend () -> Any?) {
    /** The failure of the call, without what futures put around it. */
    suspend fun failure(): Throwable? =
        try {
            provoke() as? Throwable
        } catch (e: Throwable) {
            if (e is CompletionException || e is ExecutionException) e.cause else e
        }

    fun fits(failure: Throwable): Boolean {
        val pattern = shape.split("…").joinToString("(?s:.*)") { Regex.escape(it) }
        return type.isInstance(failure) && Regex(pattern).matches(failure.message.orEmpty())
    }

    override fun toString(): String = "${type.simpleName}: $shape"
}

inline fun <reified T : Throwable> message(shape: String, noinline provoke: suspend () -> Any?): Message =
    Message(shape, T::class, provoke)
