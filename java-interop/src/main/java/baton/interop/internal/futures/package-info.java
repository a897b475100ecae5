/** The futures, permits and executors behind the public types. */
@NullMarked
package baton.interop.internal.futures;

import org.jspecify.annotations.NullMarked;
