package baton.distributed.rules;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The document of a lock: which members have how many of its permits, and which members wait.
 *
 * @param permits how many there are, at least 1
 * @param born of the document: the token before the first one, by which it is told from an earlier one of the same key
 * @param fence the last token that was given
 * @param shares one for each member that has permits, in use there or kept for the next use
 * @param queue one place for each member that waits, the longest wait first
 */
public record LockState(int permits, long born, long fence, List<Share> shares, List<Place> queue)
        implements SharedState {
    /**
     * Permits of a member.
     *
     * @param firstToken the first of the {@link LockRules#TOKENS} tokens for the callers that hold these
     * @param leaseMillis of the member
     * @param name of the member, for people; may be empty
     * @param since when it had none, in milliseconds by the wall clock of the member that granted it; 0 if unknown
     */
    public record Share(String member, int permits, long firstToken, long leaseMillis, String name, long since) {
        Share at(long millis) {
            return since == 0 ? new Share(member, permits, firstToken, leaseMillis, name, millis) : this;
        }
    }

    /**
     * A member in the queue.
     *
     * @param permits how many its first caller needs
     * @param leaseMillis of the member
     * @param name of the member, for people; may be empty
     */
    public record Place(String member, int permits, long leaseMillis, String name) {}

    static final String KIND = "lock";

    /** Far above what any clock gives, and far below an overflow. */
    static final long MAX_TOKEN = 1L << 62;

    public LockState {
        shares = List.copyOf(shares);
        queue = List.copyOf(queue);
    }

    /** A lock of which no permit was ever taken. */
    public static LockState create(int permits, long fence) {
        return new LockState(permits, fence, fence, List.of(), List.of());
    }

    /** This, with that time for the shares that are new. */
    LockState at(long millis) {
        return new LockState(
                permits, born, fence, shares.stream().map(it -> it.at(millis)).toList(), queue);
    }

    /** How many permits the member has. */
    public int held(String member) {
        for (Share share : shares) if (share.member.equals(member)) return share.permits;
        return 0;
    }

    /** The first token of the member's share; 0 if it has none. */
    public long firstToken(String member) {
        for (Share share : shares) if (share.member.equals(member)) return share.firstToken;
        return 0;
    }

    /** How many permits the member waits for; 0 if it has no place. */
    public int wanted(String member) {
        for (Place place : queue) if (place.member.equals(member)) return place.permits;
        return 0;
    }

    /** Whether a member other than this one waits. */
    public boolean othersWait(String member) {
        return !queue.isEmpty() && (queue.size() > 1 || !queue.get(0).member.equals(member));
    }

    @Override
    public boolean isUnused() {
        return shares.isEmpty() && queue.isEmpty();
    }

    /** How many permits no member has. */
    public int free() {
        long free = permits;
        for (Share share : shares) free -= share.permits;
        return (int) Math.max(free, 0);
    }

    @Override
    public boolean isQueued(String member) {
        return wanted(member) > 0;
    }

    @Override
    public Map<String, Long> others(String member) {
        Map<String, Long> others = new LinkedHashMap<>();
        for (Share share : shares) others.merge(share.member, share.leaseMillis, Math::max);
        for (Place place : queue) others.merge(place.member, place.leaseMillis, Math::max);
        others.remove(member);
        return others;
    }

    @Override
    public String toText() {
        List<Object> held = new ArrayList<>();
        for (Share share : shares) {
            Map<String, Object> fields = entry(share.member, share.permits, share.leaseMillis, share.name);
            fields.put("token", share.firstToken);
            if (share.since != 0) fields.put("since", share.since);
            held.add(fields);
        }
        List<Object> waiting = new ArrayList<>();
        for (Place place : queue) waiting.add(entry(place.member, place.permits, place.leaseMillis, place.name));
        Map<String, Object> fields = Document.fields(KIND);
        fields.put("permits", (long) permits);
        fields.put("born", born);
        fields.put("fence", fence);
        fields.put("held", held);
        fields.put("queue", waiting);
        return Json.write(fields);
    }

    private static Map<String, Object> entry(String member, int permits, long leaseMillis, String name) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("member", member);
        fields.put("permits", (long) permits);
        fields.put("lease", leaseMillis);
        if (!name.isEmpty()) fields.put("name", name);
        return fields;
    }

    /**
     * The lock of a document.
     *
     * @throws IllegalArgumentException if the text is no document of a lock, or one that breaks its rules
     */
    public static LockState parse(String text) {
        Document document = Document.parse(KIND, text);
        List<Share> shares = new ArrayList<>();
        for (Document entry : document.list("held")) {
            shares.add(new Share(
                    entry.string("member"),
                    entry.positive("permits"),
                    entry.number("token", 1, MAX_TOKEN),
                    entry.number("lease", 1, Long.MAX_VALUE),
                    entry.stringIfAny("name"),
                    entry.numberIfAny("since")));
        }
        List<Place> queue = new ArrayList<>();
        for (Document entry : document.list("queue")) {
            queue.add(new Place(
                    entry.string("member"),
                    entry.positive("permits"),
                    entry.number("lease", 1, Long.MAX_VALUE),
                    entry.stringIfAny("name")));
        }
        requireOnce(shares.stream().map(Share::member).toList(), "held");
        requireOnce(queue.stream().map(Place::member).toList(), "queue");
        return new LockState(
                document.positive("permits"),
                document.number("born", 0, MAX_TOKEN),
                document.number("fence", 0, MAX_TOKEN),
                shares,
                queue);
    }

    static void requireOnce(List<String> members, String field) {
        Set<String> seen = new HashSet<>();
        for (String member : members) {
            if (!seen.add(member)) throw new IllegalArgumentException("a member comes twice in " + field);
        }
    }
}
