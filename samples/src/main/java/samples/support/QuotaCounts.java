package samples.support;

import java.util.ArrayList;
import java.util.List;

/**
 * The counts of an import into a server with a quota, by the server and by the client.
 *
 * @param stored the records that the server has stored.
 * @param calls the requests that reached the server.
 * @param overQuota the requests that it refused with 429.
 * @param intoOutage the requests that came while it was out, which it refused with 503.
 * @param answered the records whose answer was 200.
 * @param failed the records that were given up, after an attempt that failed.
 * @param retries the attempts that were followed by another one.
 * @param notSent the failed attempts that the breaker refused, so that no call was sent.
 * @param openings how often the breaker has opened.
 */
record QuotaCounts(
        int records,
        int stored,
        int calls,
        int overQuota,
        int intoOutage,
        int answered,
        int failed,
        int retries,
        int notSent,
        int openings) {

    /** The counts that are wrong for calls through a limiter and a breaker with the {@link QuotaLimits}. */
    List<String> faults() {
        List<String> faults = new ArrayList<>();
        if (stored != records) faults.add(stored + " of " + records + " records arrived");
        if (answered != records) faults.add(answered + " of " + records + " records were answered with 200");
        int sent = answered + failed + retries - notSent;
        if (sent != calls) faults.add(sent + " calls were sent, and " + calls + " reached the server");
        if (overQuota > 0) faults.add(overQuota + " calls were refused with 429");
        int most = QuotaLimits.mostIntoOutage(openings);
        if (intoOutage > most) faults.add(intoOutage + " calls went into the outage, more than " + most);
        return faults;
    }
}
