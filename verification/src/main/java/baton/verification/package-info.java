/**
 * Litmus tests for jcstress of the promises of the primitives and their Java APIs under concurrency: the writes that
 * the next holder sees, and that a permit is neither lost nor granted twice. After {@code mvn package}: {@code cd
 * verification/target && java -jar jcstress.jar -m quick}. The documentation of the primitive states each
 * promise.
 */
package baton.verification;
