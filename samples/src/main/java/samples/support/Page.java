package samples.support;

import java.io.PrintStream;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The page of a dashboard: renders all widgets once they are loaded, and records the outcome of each. */
public final class Page {
    private final Map<String, String> widgets = new ConcurrentSkipListMap<>();
    private final Map<String, String> ends = new ConcurrentSkipListMap<>();
    private final AtomicInteger rendered = new AtomicInteger();
    private volatile String html = "";

    public void put(String widget, String content) {
        widgets.put(widget, content);
    }

    /** Renders all widgets. */
    public void render() {
        html = widgets.toString();
        rendered.incrementAndGet();
    }

    /** Records that {@code widget} was shown, or why it was not. */
    public void ended(String widget, String how) {
        ends.put(widget, how);
    }

    /** Prints the outcomes, and returns whether the page was rendered once. */
    public boolean report(PrintStream out, String title) {
        out.println(title);
        ends.forEach((widget, how) -> out.println("  " + widget + ": " + how));
        out.println("  rendered: " + (rendered.get() == 0 ? "never" : rendered + " time, " + html));
        out.println();
        return rendered.get() == 1;
    }
}
