/** The chains of cancellable futures: how a cancel finds the work behind them, and how that work ends. */
@NullMarked
package baton.interop.internal.cancel;

import org.jspecify.annotations.NullMarked;
