/**
 * Litmus tests for jcstress of what the primitives and their Java faces promise where threads meet: what the next
 * holder sees, and that a permit is neither lost nor given twice. After {@code mvn package}: {@code cd
 * verification/target && java -jar jcstress.jar -m quick}. What each promise is stands in the documentation of the
 * primitive.
 */
package baton.verification;
