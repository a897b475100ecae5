package baton.distributed.rules;

import baton.distributed.rules.LimitState.Limit;
import baton.distributed.rules.LimitState.Loan;
import baton.distributed.rules.LimitState.Place;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * How the document of a limiter changes.
 *
 * <pre>
 *   time ──▶ tokens ── granted ──▶ a loan of a member ── used ──▶ gone
 *                ◀───── given back ────┘
 * </pre>
 *
 * <ol>
 *   <li>Tokens and loans together are the burst at most: time brings no more than that. A loan counts whole until its
 *       member has written how much of it is used, so in any window of the length w at most burst + rate × w tokens are
 *       used, by the clock of the store.
 *   <li>That needs an order: a member notes what it has used, then reads the clock of the store, and then writes. A
 *       reading before {@link LimitState#time} brings nothing.
 *   <li>A member has at most one loan and one place. First come, first served: the head of the queue waits for more
 *       tokens than are there, and no place behind it is granted before it.
 *   <li>A grant is what the member needs, and as much of what it wants as fits into its share of the burst. If it
 *       wants more than that, it waits again at the end of the queue.
 *   <li>The loan of a dead member is lost: its tokens never come back.
 * </ol>
 */
public final class LimitRules {
    private LimitRules() {}

    /**
     * The wish of a member.
     *
     * @param used how many of its tokens are gone
     * @param idleMicros how long it has used none, by the clock of the store, or less
     * @param returned how many it gives back
     * @param need how many it waits for at least; 0 if it does not wait
     * @param want how many its callers wait for in all
     */
    public record Wish(String member, long leaseMillis, int used, int returned, long idleMicros, int need, int want) {}

    /**
     * A document, and the members that are to look at it.
     *
     * @param rung those that were granted tokens, and those that have some while the head of the queue waits for them
     */
    public record Step(LimitState state, Set<String> rung) {}

    /**
     * How many tokens a member borrows at most beyond those that its first caller needs. Not all: while those that are
     * used are not noted, there is room for others to come.
     */
    public static int share(Limit limit, int members) {
        return Math.max(limit.burst() / (members + 1), 1);
    }

    /** How many tokens come in the time, rounded down. */
    public static int tokensIn(Limit limit, long nanos) {
        BigInteger tokens = BigInteger.valueOf(nanos)
                .multiply(BigInteger.valueOf(limit.permits()))
                .divide(BigInteger.valueOf(limit.nanos()));
        return tokens.bitLength() < Integer.SIZE ? tokens.intValue() : Integer.MAX_VALUE;
    }

    /** Adds the tokens that have come until {@code now}, in microseconds by the clock of the store. */
    public static LimitState refill(LimitState state, long now) {
        if (now <= state.time()) return state;
        Limit limit = state.limit();
        BigInteger nanos = BigInteger.valueOf(limit.nanos());
        BigInteger[] come = BigInteger.valueOf(now - state.time())
                .multiply(BigInteger.valueOf(1_000))
                .multiply(BigInteger.valueOf(limit.permits()))
                .add(BigInteger.valueOf(state.fraction()))
                .divideAndRemainder(nanos);
        int missing = state.room() - state.tokens();
        boolean isFull = come[0].compareTo(BigInteger.valueOf(missing)) >= 0;
        int tokens = state.tokens() + (isFull ? Math.max(missing, 0) : come[0].intValue());
        long fraction = isFull ? 0 : come[1].longValue();
        return new LimitState(limit, state.born(), now, tokens, fraction, state.loans(), state.queue());
    }

    /** The clock of the store was turned back: tokens come again from {@code now} on. */
    public static LimitState turnBack(LimitState state, long now) {
        return new LimitState(
                state.limit(), state.born(), now, state.tokens(), state.fraction(), state.loans(), state.queue());
    }

    /**
     * Notes what the member has used and gives back, adds the tokens that have come until {@code now}, and grants what
     * the member needs, or queues it. There is room for what comes after its last use.
     */
    public static Step apply(LimitState before, long now, Wish wish) {
        LimitState state = refill(before, Math.max(now - wish.idleMicros, 0));
        List<Loan> loans = new ArrayList<>();
        int tokens = state.tokens();
        for (Loan loan : state.loans()) {
            if (!loan.member().equals(wish.member)) {
                loans.add(loan);
                continue;
            }
            int returned = Math.min(wish.returned, loan.tokens());
            int left = loan.tokens() - returned - Math.min(wish.used, loan.tokens() - returned);
            tokens += returned;
            if (left > 0) loans.add(new Loan(wish.member, left, wish.leaseMillis));
        }
        state = refill(
                new LimitState(
                        state.limit(), state.born(), state.time(), tokens, state.fraction(), loans, state.queue()),
                now);
        List<Place> queue = new ArrayList<>();
        Place mine = new Place(wish.member, wish.need, Math.max(wish.need, wish.want), wish.leaseMillis);
        boolean isQueued = false;
        for (Place place : state.queue()) {
            if (!place.member().equals(wish.member)) {
                queue.add(place);
            } else if (wish.need > 0) {
                queue.add(mine);
                isQueued = true;
            }
        }
        if (wish.need > 0 && !isQueued) queue.add(mine);
        return settle(state, state.limit(), state.tokens(), loans, queue, wish.member);
    }

    /** Takes everything from the members, which are dead. */
    public static Step evict(LimitState state, Set<String> dead) {
        List<Loan> loans = new ArrayList<>(state.loans());
        List<Place> queue = new ArrayList<>(state.queue());
        loans.removeIf(loan -> dead.contains(loan.member()));
        queue.removeIf(place -> dead.contains(place.member()));
        return settle(state, state.limit(), state.tokens(), loans, queue, "");
    }

    /** Changes the limit. Members keep what they have; tokens beyond the burst are lost. */
    public static Step change(LimitState state, Limit limit) {
        return settle(state, limit, state.tokens(), state.loans(), state.queue(), "");
    }

    private static Step settle(
            LimitState before, Limit limit, int available, List<Loan> held, List<Place> waiting, String by) {
        List<Loan> loans = new ArrayList<>(held);
        List<Place> queue = new ArrayList<>(waiting);
        Set<String> rung = new LinkedHashSet<>();
        long room = limit.burst();
        for (Loan loan : loans) room -= loan.tokens();
        int tokens = (int) Math.min(available, Math.max(room, 0));
        queue.removeIf(place -> {
            boolean exceeds = place.need() > limit.burst();
            if (exceeds) rung.add(place.member());
            return exceeds;
        });
        int members = new LimitState(limit, 0, 0, 0, 0, loans, queue).members("");
        while (!queue.isEmpty() && queue.get(0).need() <= tokens) {
            Place head = queue.remove(0);
            int share = Math.max(share(limit, members) - lent(loans, head.member()), head.need());
            int granted = Math.min(Math.min(head.want(), share), tokens);
            tokens -= granted;
            grant(loans, head, granted);
            rung.add(head.member());
            int rest = head.want() - granted;
            if (rest > 0 && !queue.isEmpty()) {
                queue.add(new Place(head.member(), Math.min(head.need(), rest), rest, head.leaseMillis()));
            }
        }
        long fraction = limit.equals(before.limit()) ? before.fraction() : 0;
        LimitState after = new LimitState(limit, before.born(), before.time(), tokens, fraction, loans, queue);
        if (after.isBlocked()) for (Loan loan : loans) rung.add(loan.member());
        rung.remove(by);
        return new Step(after, rung);
    }

    private static int lent(List<Loan> loans, String member) {
        for (Loan loan : loans) if (loan.member().equals(member)) return loan.tokens();
        return 0;
    }

    private static void grant(List<Loan> loans, Place head, int tokens) {
        for (int i = 0; i < loans.size(); i++) {
            Loan loan = loans.get(i);
            if (!loan.member().equals(head.member())) continue;
            loans.set(i, new Loan(head.member(), loan.tokens() + tokens, head.leaseMillis()));
            return;
        }
        loans.add(new Loan(head.member(), tokens, head.leaseMillis()));
    }
}
