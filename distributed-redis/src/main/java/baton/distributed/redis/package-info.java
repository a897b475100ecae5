/** A store of Redis for clusters. */
@NullMarked
package baton.distributed.redis;

import org.jspecify.annotations.NullMarked;
