@file:JvmSynthetic

package baton

/**
 * The version in `@SinceKotlin` of a function for Java, which cannot call a getter that returns a value class. Kotlin
 * code has the property, and does not see the function: it claims to need a later version of Kotlin.
 */
internal const val FOR_JAVA_ALONE: String = "9999.0"
