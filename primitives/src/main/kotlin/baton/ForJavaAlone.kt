@file:JvmSynthetic

package baton

/**
 * The version in `@SinceKotlin` of a function for Java, which cannot call a getter that returns a value class. Kotlin
 * code uses the property; its compiler hides the function, which requires a version of Kotlin that does not exist.
 */
internal const val FOR_JAVA_ALONE: String = "9999.0"
