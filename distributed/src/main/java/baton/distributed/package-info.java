/** Locks that several JVMs share through a store. */
@NullMarked
package baton.distributed;

import org.jspecify.annotations.NullMarked;
