/** Parallel maps over stages. */
@NullMarked
package baton.interop.internal.parallel;

import org.jspecify.annotations.NullMarked;
