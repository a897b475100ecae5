package baton.distributed.rules;

import baton.distributed.rules.LockState.Place;
import baton.distributed.rules.LockState.Share;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * How the document of a lock changes.
 *
 * <pre>
 *   a member:  nothing ── wants ──▶ a place in the queue ── granted ──▶ a share ── keeps less ──▶ nothing
 * </pre>
 *
 * <ol>
 *   <li>The shares add up to the permits at most, unless those were lowered since. Then nothing is granted until they do.
 *   <li>A member has at most one share and one place, however many of its callers wait.
 *   <li>First come, first served: the head of the queue waits for more permits than are free, and no place behind it is
 *       granted before it. A place asks for as many permits as there are at most; one that asks for more goes.
 *   <li>A member alone lowers its share. Only a grant or a member's eviction changes it otherwise. So a wish says how many
 *       permits the member keeps, not how many it returns, and may be repeated.
 *   <li>Each share that grows gets new tokens, {@value #TOKENS} of them, above all that were given before.
 * </ol>
 */
public final class LockRules {
    /** How many tokens a member has for the callers among which it passes on a share. */
    public static final long TOKENS = 10_000;

    private LockRules() {}

    /**
     * The wish of a member.
     *
     * @param keep how many of its permits it keeps at most
     * @param want how many more its first caller waits for; 0 for none
     * @param renew whether it has used up the tokens of what it keeps
     * @param name of the member, for people
     * @param at the time by the member's wall clock, for people
     */
    public record Wish(String member, long leaseMillis, int keep, int want, boolean renew, String name, long at) {
        Wish(String member, long leaseMillis, int keep, int want, boolean renew) {
            this(member, leaseMillis, keep, want, renew, "", 0);
        }
    }

    /**
     * A document, and the members that are to look at it.
     *
     * @param rung those that were granted permits, and those that have some when the first place is taken
     */
    public record Step(LockState state, Set<String> rung) {}

    /** Gives back what the member does not keep, and grants what it wants, or queues it. */
    public static Step apply(LockState state, Wish wish) {
        List<Share> shares = new ArrayList<>();
        long fence = state.fence();
        for (Share share : state.shares()) {
            if (!share.member().equals(wish.member)) {
                shares.add(share);
                continue;
            }
            int kept = Math.min(share.permits(), wish.keep);
            if (kept == 0) continue;
            long first = wish.renew ? fence + 1 : share.firstToken();
            if (wish.renew) fence += TOKENS;
            shares.add(new Share(wish.member, kept, first, wish.leaseMillis, wish.name, share.since()));
        }
        List<Place> queue = new ArrayList<>();
        Place mine = new Place(wish.member, wish.want, wish.leaseMillis, wish.name);
        boolean isQueued = false;
        for (Place place : state.queue()) {
            if (!place.member().equals(wish.member)) {
                queue.add(place);
            } else if (wish.want > 0) {
                queue.add(mine);
                isQueued = true;
            }
        }
        if (wish.want > 0 && !isQueued) queue.add(mine);
        Step step = settle(state, state.permits(), fence, shares, queue, wish.member);
        return new Step(step.state.at(wish.at), step.rung);
    }

    /** Takes everything from the members, which are dead. */
    public static Step evict(LockState state, Set<String> dead) {
        List<Share> shares = new ArrayList<>(state.shares());
        List<Place> queue = new ArrayList<>(state.queue());
        shares.removeIf(share -> dead.contains(share.member()));
        queue.removeIf(place -> dead.contains(place.member()));
        return settle(state, state.permits(), state.fence(), shares, queue, "");
    }

    /** Changes the number of permits. Members keep what they have. */
    public static Step resize(LockState state, int permits) {
        return settle(state, permits, state.fence(), state.shares(), state.queue(), "");
    }

    private static Step settle(
            LockState before, int permits, long lastToken, List<Share> held, List<Place> waiting, String by) {
        List<Share> shares = new ArrayList<>(held);
        List<Place> queue = new ArrayList<>(waiting);
        Set<String> rung = new LinkedHashSet<>();
        long fence = lastToken;
        long free = permits;
        for (Share share : shares) free -= share.permits();
        queue.removeIf(place -> {
            boolean exceeds = place.permits() > permits;
            if (exceeds) rung.add(place.member());
            return exceeds;
        });
        while (!queue.isEmpty() && queue.get(0).permits() <= free) {
            Place head = queue.remove(0);
            free -= head.permits();
            grant(shares, head, fence + 1);
            fence += TOKENS;
            rung.add(head.member());
        }
        if (before.queue().isEmpty() && !queue.isEmpty()) for (Share share : shares) rung.add(share.member());
        rung.remove(by);
        return new Step(new LockState(permits, before.born(), fence, shares, queue), rung);
    }

    private static void grant(List<Share> shares, Place head, long firstToken) {
        int permits = head.permits();
        for (int i = 0; i < shares.size(); i++) {
            Share share = shares.get(i);
            if (!share.member().equals(head.member())) continue;
            int sum = share.permits() + permits;
            shares.set(i, new Share(head.member(), sum, firstToken, head.leaseMillis(), head.name(), share.since()));
            return;
        }
        shares.add(new Share(head.member(), permits, firstToken, head.leaseMillis(), head.name(), 0));
    }
}
