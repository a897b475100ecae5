package baton.interop.internal.futures;

/** A marker that prints its name. Compared by identity. */
public final class Symbol {
    private final String name;

    public Symbol(String name) {
        this.name = name;
    }

    @Override
    public String toString() {
        return name;
    }
}
