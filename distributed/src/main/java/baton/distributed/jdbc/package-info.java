/** INTERNAL: connections and threads of a store in a database. */
@NullMarked
package baton.distributed.jdbc;

import org.jspecify.annotations.NullMarked;
