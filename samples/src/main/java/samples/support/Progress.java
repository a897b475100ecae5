package samples.support;

import java.io.Console;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A progress line, overwritten in place on a terminal and not written to a log. */
public final class Progress {
    private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(50);

    private final PrintStream out;
    private final boolean live;
    private long last = System.nanoTime() - INTERVAL;
    private int width;

    Progress(PrintStream out, boolean live) {
        this.out = out;
        this.live = live;
    }

    static Progress on(PrintStream out) {
        return new Progress(out, isLive(out));
    }

    /** Whether what is printed on {@code out} may be overwritten. */
    public static boolean isLive(PrintStream out) {
        return out == System.out && System.getenv("CI") == null && isTerminal(System.console());
    }

    private static boolean isTerminal(Console console) {
        if (console == null) return false;
        try {
            // Since JDK 22 there may be a console without a terminal; this method distinguishes the two.
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException before22) {
            return true;
        }
    }

    /** Shows {@code line}, unless the previous one was shown too recently; {@code force} shows it in any case. */
    void show(boolean force, Supplier<String> line) {
        long now = System.nanoTime();
        if (!live || !force && now - last < INTERVAL) return;
        last = now;
        String text = line.get();
        out.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
        out.flush();
        width = text.length();
    }

    /** Erases the line. */
    void clear() {
        if (width > 0) out.print("\r" + " ".repeat(width) + "\r");
        width = 0;
    }
}
