/**
 * Litmus tests of what the primitives promise of memory, for jcstress: {@code cd verification/target && java -jar
 * jcstress.jar -m quick}. What each promise is stands in the documentation of the primitive.
 */
package baton.verification;
