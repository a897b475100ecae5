package baton.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Draws ratios as an SVG: a dot for each JDK, with the range over the forks, on a logarithmic scale around 1. */
final class Chart {
    private static final int LABELS = 570;
    private static final int PLOT = 460;
    private static final int LINE = 22;
    private static final int TOP = 52;
    private static final double LEAST = 0.1;
    private static final double MOST = 4;
    private static final List<Double> MARKS = List.of(0.1, 0.25, 0.5, 1.0, 2.0, 4.0);
    private static final List<String> COLOURS = List.of("#1565c0", "#ef6c00", "#2e7d32");

    private Chart() {}

    static String of(List<TableRow> rows, Map<String, Results> jdks) {
        int height = TOP + rows.size() * LINE + 16;
        StringBuilder svg = new StringBuilder();
        add(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">",
                LABELS + PLOT + 30,
                height);
        add(svg, "<title>Time per operation, Baton's divided by the peer's; left of 1 Baton is faster</title>");
        add(svg, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>");
        addLegend(svg, List.copyOf(jdks.keySet()));
        for (double mark : MARKS) {
            add(
                    svg,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"%s\"/>",
                    x(mark),
                    x(mark),
                    TOP - 6,
                    height - 10,
                    mark == 1 ? "#555" : "#ddd");
            add(
                    svg,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#555\">%s</text>",
                    x(mark),
                    TOP - 12,
                    plain(mark));
        }
        for (int i = 0; i < rows.size(); i++) addRow(svg, rows.get(i), jdks, TOP + i * LINE + LINE / 2);
        return svg.append("</svg>\n").toString();
    }

    private static void addLegend(StringBuilder svg, List<String> jdks) {
        add(
                svg,
                "<text x=\"8\" y=\"16\" font-weight=\"bold\">Time per operation beside a peer: left of 1, Baton is faster</text>");
        for (int i = 0; i < jdks.size(); i++) {
            int x = LABELS + i * 90;
            add(svg, "<circle cx=\"%d\" cy=\"12\" r=\"4\" fill=\"%s\"/>", x, COLOURS.get(i % COLOURS.size()));
            add(svg, "<text x=\"%d\" y=\"16\">%s</text>", x + 8, Table.shortened(jdks.get(i)));
        }
    }

    private static void addRow(StringBuilder svg, TableRow row, Map<String, Results> jdks, int y) {
        String label = row.workload() + " / " + row.beside();
        add(
                svg,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>",
                LABELS - 10,
                y + 4,
                escaped(label.replace("`", "")));
        int colour = 0;
        for (Results results : jdks.values()) {
            Table.Pair pair = Table.pair(row, results);
            int line = y - 3 + 6 * colour;
            String stroke = COLOURS.get(colour++ % COLOURS.size());
            if (pair == null) continue;
            Measured.Ratio ratio = pair.ratio();
            add(
                    svg,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\" opacity=\"0.5\"/>",
                    x(ratio.low()),
                    x(ratio.high()),
                    line,
                    line,
                    stroke);
            add(svg, "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\"/>", x(ratio.median()), line, stroke);
        }
    }

    /** Ratios outside the scale are drawn at its end. */
    private static double x(double ratio) {
        double inside = Math.max(LEAST, Math.min(MOST, ratio));
        return LABELS + PLOT * Math.log(inside / LEAST) / Math.log(MOST / LEAST);
    }

    private static String plain(double mark) {
        return mark == Math.rint(mark) ? String.valueOf((long) mark) : String.valueOf(mark);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;");
    }

    private static void add(StringBuilder svg, String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }
}
