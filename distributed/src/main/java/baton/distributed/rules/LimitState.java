package baton.distributed.rules;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The document of a limiter: the tokens that no member has, those that members have borrowed, and which members wait.
 *
 * @param limit how fast tokens come, and how many there are at most
 * @param born see {@link SharedState#born()}
 * @param time the latest reading of the store's clock up to which tokens have come, in microseconds
 * @param tokens that no member has
 * @param fraction of the next token: so many of {@code limit.nanos()} parts
 * @param loans one for each member that has borrowed tokens
 * @param queue one place for each member that waits, the longest wait first
 */
public record LimitState(
        Limit limit, long born, long time, int tokens, long fraction, List<Loan> loans, List<Place> queue)
        implements SharedState {
    /** So many tokens come in so many nanoseconds, and {@code burst} there are at most. */
    public record Limit(long permits, long nanos, int burst) {}

    /**
     * Tokens that a member has borrowed, of which it may have used some.
     *
     * @param leaseMillis of the member
     */
    public record Loan(String member, int tokens, long leaseMillis) {}

    /**
     * A member in the queue.
     *
     * @param need how many tokens it waits for at least
     * @param want how many its callers wait for in all
     * @param leaseMillis of the member
     */
    public record Place(String member, int need, int want, long leaseMillis) {}

    static final String KIND = "limit";

    public LimitState {
        loans = List.copyOf(loans);
        queue = List.copyOf(queue);
    }

    /** A limiter of which no token was ever taken: full, or empty if it may have been in use before. */
    public static LimitState create(Limit limit, long born, long time, boolean isFull) {
        return new LimitState(limit, born, time, isFull ? limit.burst : 0, 0, List.of(), List.of());
    }

    /** How many tokens the member has borrowed. */
    public int lent(String member) {
        for (Loan loan : loans) if (loan.member.equals(member)) return loan.tokens;
        return 0;
    }

    /** The place of the member in the queue, from 0 on; below 0 if it does not wait. */
    public int indexOf(String member) {
        for (int i = 0; i < queue.size(); i++) if (queue.get(i).member.equals(member)) return i;
        return -1;
    }

    /** A limiter gives no tokens. The next document of the same key is born later. */
    @Override
    public long fence() {
        return born + 1;
    }

    @Override
    public boolean isUnused() {
        return loans.isEmpty() && queue.isEmpty();
    }

    @Override
    public boolean isQueued(String member) {
        return indexOf(member) >= 0;
    }

    /** The most tokens that can be there while members have borrowed what they have. */
    public int room() {
        long room = limit.burst;
        for (Loan loan : loans) room -= loan.tokens;
        return (int) Math.max(room, 0);
    }

    /** Whether the first member waits for more tokens than can be there. Then the others give back what they have. */
    public boolean isBlocked() {
        return !queue.isEmpty() && queue.get(0).need > room();
    }

    /** How many members have borrowed tokens or wait, with this one; "" for none. */
    public int members(String member) {
        return others(member).size() + (member.isEmpty() ? 0 : 1);
    }

    /** The nanoseconds from {@link #time} until so many tokens have come, if no member takes any. */
    public long nanosUntil(long number) {
        if (number <= tokens) return 0;
        BigInteger parts = BigInteger.valueOf(number - tokens)
                .multiply(BigInteger.valueOf(limit.nanos))
                .subtract(BigInteger.valueOf(fraction));
        BigInteger[] nanos = parts.divideAndRemainder(BigInteger.valueOf(limit.permits));
        BigInteger rounded = nanos[1].signum() == 0 ? nanos[0] : nanos[0].add(BigInteger.ONE);
        return rounded.bitLength() < Long.SIZE ? rounded.longValue() : Long.MAX_VALUE;
    }

    /** The nanoseconds until the tokens have come that the member needs, and those that members before it may get. */
    public long nanosUntilTurn(String member) {
        int share = LimitRules.share(limit, members(""));
        long number = 0;
        for (Place place : queue) {
            if (place.member.equals(member)) return nanosUntil(number + place.need);
            number += Math.max(place.need, Math.min(place.want, share));
        }
        return nanosUntil(number);
    }

    @Override
    public Map<String, Long> others(String member) {
        Map<String, Long> others = new LinkedHashMap<>();
        for (Loan loan : loans) others.merge(loan.member, loan.leaseMillis, Math::max);
        for (Place place : queue) others.merge(place.member, place.leaseMillis, Math::max);
        others.remove(member);
        return others;
    }

    @Override
    public String toText() {
        List<Object> lent = new ArrayList<>();
        for (Loan loan : loans) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("member", loan.member);
            fields.put("tokens", (long) loan.tokens);
            fields.put("lease", loan.leaseMillis);
            lent.add(fields);
        }
        List<Object> waiting = new ArrayList<>();
        for (Place place : queue) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("member", place.member);
            fields.put("need", (long) place.need);
            fields.put("want", (long) place.want);
            fields.put("lease", place.leaseMillis);
            waiting.add(fields);
        }
        Map<String, Object> fields = Document.fields(KIND);
        fields.put("permits", limit.permits);
        fields.put("nanos", limit.nanos);
        fields.put("burst", (long) limit.burst);
        fields.put("born", born);
        fields.put("time", time);
        fields.put("tokens", (long) tokens);
        fields.put("fraction", fraction);
        fields.put("lent", lent);
        fields.put("queue", waiting);
        return Json.write(fields);
    }

    /**
     * The limiter of a document.
     *
     * @throws IllegalArgumentException if the text is no document of a limiter, or one that breaks its rules
     */
    public static LimitState parse(String text) {
        Document document = Document.parse(KIND, text);
        long nanos = document.number("nanos", 1, Long.MAX_VALUE);
        Limit limit = new Limit(document.number("permits", 1, Long.MAX_VALUE), nanos, document.positive("burst"));
        List<Loan> loans = new ArrayList<>();
        for (Document entry : document.list("lent")) {
            loans.add(new Loan(
                    entry.string("member"), entry.positive("tokens"), entry.number("lease", 1, Long.MAX_VALUE)));
        }
        List<Place> queue = new ArrayList<>();
        for (Document entry : document.list("queue")) {
            int need = entry.positive("need");
            int want = (int) entry.number("want", need, Integer.MAX_VALUE);
            queue.add(new Place(entry.string("member"), need, want, entry.number("lease", 1, Long.MAX_VALUE)));
        }
        LockState.requireOnce(loans.stream().map(Loan::member).toList(), "lent");
        LockState.requireOnce(queue.stream().map(Place::member).toList(), "queue");
        return new LimitState(
                limit,
                document.number("born", 0, LockState.MAX_TOKEN),
                document.number("time", 0, Long.MAX_VALUE),
                (int) document.number("tokens", 0, limit.burst),
                document.number("fraction", 0, nanos - 1),
                loans,
                queue);
    }
}
