package baton.channels

/** The type of [Channel.CONFLATED]: not a number, so that no miscalculated capacity makes a channel drop elements. */
public object ConflatedCapacity {
    override fun toString(): String = "CONFLATED"
}
