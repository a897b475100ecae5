package baton.interop.internal.futures;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Handles of fields, to be kept in constants. */
public final class FieldHandle {
    private FieldHandle() {}

    /**
     * The handle of a field.
     *
     * @param lookup of the class that has the field
     */
    public static VarHandle of(MethodHandles.Lookup lookup, String name, Class<?> type) {
        try {
            return lookup.findVarHandle(lookup.lookupClass(), name, type);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
