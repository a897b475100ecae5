package baton.monitoring.core

/** Writes one JSON value (RFC 8259), without white space. */
internal class JsonText {
    private val out = StringBuilder()

    fun inObject(members: () -> Unit) = nested('{', '}', members)

    fun text(name: String, value: String) = member(name) { quote(value) }

    fun number(name: String, value: Long) = member(name) { out.append(value) }

    fun flag(name: String, value: Boolean) = member(name) { out.append(value) }

    fun texts(name: String, values: List<String>) = array(name, values) { quote(it) }

    fun <T> each(name: String, values: List<T>, members: (T) -> Unit) = array(name, values) { inObject { members(it) } }

    private fun <T> array(name: String, values: List<T>, write: (T) -> Unit) =
        member(name) {
            nested('[', ']') {
                for (value in values) {
                    comma()
                    write(value)
                }
            }
        }

    private fun member(name: String, write: () -> Unit) {
        comma()
        quote(name)
        out.append(':')
        write()
    }

    private fun nested(open: Char, close: Char, content: () -> Unit) {
        out.append(open)
        content()
        out.append(close)
    }

    /** Between two members or elements: neither is empty, and none ends with what opens the next. */
    private fun comma() {
        if (out.last() != '{' && out.last() != '[') out.append(',')
    }

    private fun quote(text: String) {
        out.append('"')
        for (char in text) {
            when {
                char == '"' || char == '\\' -> out.append('\\').append(char)
                char < ' ' || char.isSurrogate() -> out.append("\\u").append(char.code.toString(16).padStart(4, '0'))
                else -> out.append(char)
            }
        }
        out.append('"')
    }

    override fun toString(): String = out.toString()
}
