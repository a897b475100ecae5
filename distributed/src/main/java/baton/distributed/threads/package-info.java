/** INTERNAL: the threads of this module. */
@NullMarked
package baton.distributed.threads;

import org.jspecify.annotations.NullMarked;
