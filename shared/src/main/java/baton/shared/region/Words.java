package baton.shared.region;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Atomic access to a piece of the mapped file, by byte offset. The processor's own locked instructions work on the shared page, so
 * they are atomic between processes too. Java, because Kotlin would box what a {@link VarHandle} returns.
 *
 * <p>Reads are volatile, and so are writes unless their name says otherwise. Offsets of ints are multiples of 4, those of longs of 8.
 */
public final class Words {
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer bytes;

    /** The same memory as the futex takes it, made at the first use; racing threads make equal ones. */
    private Object firstSegment;

    /** @param bytes mapped, aligned to 8 bytes */
    public Words(ByteBuffer bytes) {
        this.bytes = bytes;
    }

    /** The memory itself, in native order. */
    public ByteBuffer bytes() {
        return bytes;
    }

    public Object getFirstSegment() {
        return firstSegment;
    }

    public void setFirstSegment(Object segment) {
        firstSegment = segment;
    }

    /** The words from {@code offset} on, {@code size} bytes. */
    public Words slice(int offset, int size) {
        return new Words(bytes.slice(offset, size).order(ByteOrder.nativeOrder()));
    }

    public int getInt(int offset) {
        return (int) INT.getVolatile(bytes, offset);
    }

    public void setInt(int offset, int value) {
        INT.setVolatile(bytes, offset, value);
    }

    public boolean casInt(int offset, int expected, int value) {
        return INT.compareAndSet(bytes, offset, expected, value);
    }

    public int getAndAddInt(int offset, int delta) {
        return (int) INT.getAndAdd(bytes, offset, delta);
    }

    public long getLong(int offset) {
        return (long) LONG.getVolatile(bytes, offset);
    }

    public void setLong(int offset, long value) {
        LONG.setVolatile(bytes, offset, value);
    }

    /** A release store: what was written before is visible to a thread that reads this value. */
    public void setLongRelease(int offset, long value) {
        LONG.setRelease(bytes, offset, value);
    }

    public boolean casLong(int offset, long expected, long value) {
        return LONG.compareAndSet(bytes, offset, expected, value);
    }

    public long getAndAddLong(int offset, long delta) {
        return (long) LONG.getAndAdd(bytes, offset, delta);
    }
}
