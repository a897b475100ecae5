package baton.waiting

/** A marker compared by identity, which prints as its [name]. */
internal class Symbol(private val name: String) {
    override fun toString(): String = name
}
