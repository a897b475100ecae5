/** INTERNAL: what the documents of a cluster mean, and how they change. Pure functions. */
@NullMarked
package baton.distributed.rules;

import org.jspecify.annotations.NullMarked;
