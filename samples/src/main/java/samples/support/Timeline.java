package samples.support;

import java.util.List;
import java.util.Locale;

/**
 * Draws the start and end of each job: a row for each slot, and above the rows a mark where an urgent job was
 * scheduled. The two runs are drawn one above the other, on one scale.
 */
final class Timeline {
    private static final int WIDTH = 960;
    private static final int LEFT = 84;
    private static final int PLOT = WIDTH - LEFT - 24;
    private static final int TOP = 64;
    private static final int ROW = 14;
    private static final int BAR = 11;

    /** Above the rows of a run, for its title. */
    private static final int HEAD = 24;

    /** Below them. */
    private static final int FOOT = 16;

    /** For the numbers under the lower run. */
    private static final int AXIS = 36;

    private static final int MOST_MARKS = 10;

    private final StringBuilder svg = new StringBuilder();
    private final double scale;

    private Timeline(double milliseconds) {
        scale = PLOT / milliseconds;
    }

    /** The text of an SVG file. */
    static String draw(Timesheet upper, Timesheet lower) {
        double end = Math.max(end(upper.runs()), end(lower.runs()));
        int axis = TOP + height(upper.runs()) + height(lower.runs());
        return new Timeline(end).draw(List.of(upper, lower), end, axis);
    }

    private static double end(List<JobRun> runs) {
        return runs.stream().mapToLong(JobRun::ended).max().orElseThrow() / 1e6;
    }

    /** The height of a run. */
    private static int height(List<JobRun> runs) {
        return HEAD + ROW * (1 + slots(runs)) + FOOT;
    }

    private static int slots(List<JobRun> runs) {
        return 1 + runs.stream().mapToInt(JobRun::slot).max().orElseThrow();
    }

    private String draw(List<Timesheet> sheets, double end, int axis) {
        line(
                "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %1$d %2$d' role='img'>",
                WIDTH, axis + AXIS);
        line("<title>Start and end of each job, without priorities and with</title>");
        line("<style>");
        line("text { font: 12px sans-serif; fill: #222 } .head { font-weight: bold } .grid { stroke: #ddd }");
        line(".bar { stroke: white; stroke-width: .5 }");
        for (JobKind kind : JobKind.values()) line(".%s { fill: %s }", kind.priority(), kind.colour());
        line("</style>");
        line("<rect width='%d' height='%d' fill='white'/>", WIDTH, axis + AXIS);
        legend();
        marks(end, axis);
        int top = TOP;
        for (Timesheet sheet : sheets) {
            run(sheet, top);
            top += height(sheet.runs());
        }
        return line("</svg>").svg.toString();
    }

    private void legend() {
        int x = LEFT;
        for (JobKind kind : JobKind.values()) {
            line("<rect class='%s' x='%d' y='20' width='%d' height='%3$d'/>", kind.priority(), x, BAR);
            line("<text x='%d' y='30'>%s %s</text>", x + BAR + 5, kind.priority(), kind.label());
            x += PLOT / JobKind.values().length;
        }
    }

    private void marks(double end, int axis) {
        long step = step(end);
        for (long time = 0; time <= end; time += step) {
            line("<line class='grid' x1='%.1f' y1='%d' x2='%1$.1f' y2='%d'/>", x(time), TOP, axis);
            line("<text x='%.1f' y='%d' text-anchor='middle'>%d</text>", x(time), axis + 16, time);
        }
        line("<text x='8' y='%d'>ms</text>", axis + 16);
    }

    /** 1, 2 or 5 times a power of ten: the least step that gives at most so many marks. */
    static long step(double end) {
        long step = 1;
        while (end / step > MOST_MARKS) {
            step = Long.toString(step).startsWith("2") ? step / 2 * 5 : step * 2;
        }
        return step;
    }

    private void run(Timesheet sheet, int top) {
        List<JobRun> runs = sheet.runs();
        int y = top + HEAD;
        line("<g class='run'>");
        line("<text class='head' x='%d' y='%d'>%s</text>", LEFT, y - 8, sheet.title());
        line("<text x='8' y='%d'>urgent</text>", y + 10);
        for (JobRun run : runs) {
            if (run.job().kind().isUrgent()) mark(run, y);
        }
        for (int slot = 0; slot < slots(runs); slot++) {
            line("<text x='8' y='%d'>slot %d</text>", y + ROW * (slot + 1) + 10, slot + 1);
        }
        for (JobRun run : runs) {
            bar(run, y + ROW * (run.slot() + 1));
        }
        line("</g>");
    }

    /** A mark where an urgent job was scheduled; the other jobs are scheduled at the beginning. */
    private void mark(JobRun run, int y) {
        double x = x(ms(run.scheduled()));
        line("<rect class='%s' x='%.2f' y='%d' width='1.5' height='%d'/>", level(run), x, y, BAR);
    }

    private void bar(JobRun run, int y) {
        double started = ms(run.started());
        double ended = ms(run.ended());
        line("<rect class='bar %s' x='%.2f' y='%d'", level(run), x(started), y);
        line(" width='%.2f' height='%d'>", (ended - started) * scale, BAR);
        line(
                "<title>%s: scheduled at %.3f ms, started at %.3f ms, ended at %.3f ms</title></rect>",
                run.job().kind().label(), ms(run.scheduled()), started, ended);
    }

    private static String level(JobRun run) {
        return run.job().kind().priority().name();
    }

    private static double ms(long nanoseconds) {
        return nanoseconds / 1e6;
    }

    private double x(double milliseconds) {
        return LEFT + milliseconds * scale;
    }

    private Timeline line(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
        return this;
    }
}
