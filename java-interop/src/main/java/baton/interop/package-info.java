/** The Java face: one thin class per primitive. Nothing here blocks. */
@NullMarked
package baton.interop;

import org.jspecify.annotations.NullMarked;
