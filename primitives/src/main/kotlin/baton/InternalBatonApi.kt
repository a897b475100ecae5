package baton

/** Marks API that Baton's own modules share. It changes without notice; do not use it. */
@RequiresOptIn(message = "This is internal to Baton and changes without notice.", level = RequiresOptIn.Level.ERROR)
@Retention(AnnotationRetention.BINARY)
@Target(AnnotationTarget.CLASS, AnnotationTarget.FUNCTION, AnnotationTarget.PROPERTY, AnnotationTarget.CONSTRUCTOR)
public annotation class InternalBatonApi
