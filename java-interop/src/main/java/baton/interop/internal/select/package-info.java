/** The future of a select, and its clauses. */
@NullMarked
package baton.interop.internal.select;

import org.jspecify.annotations.NullMarked;
