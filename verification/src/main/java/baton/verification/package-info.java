/**
 * Litmus tests for jcstress of what the primitives and their Java faces promise where threads meet: what the next
 * holder sees, and that a permit is neither lost nor given twice. After {@code mvn package}: {@code cd
 * verification/target && java -jar jcstress.jar -m quick}. The documentation of the primitive states each
 * promise.
 */
package baton.verification;
