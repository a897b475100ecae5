package baton.interop.schedule;

import baton.scheduler.ScheduleRow;
import baton.scheduler.ScheduleStore;
import java.util.List;
import kotlin.Unit;
import kotlin.coroutines.Continuation;
import kotlinx.coroutines.flow.Flow;
import kotlinx.coroutines.flow.FlowKt;
import org.jspecify.annotations.Nullable;

/** An empty store, whose loads or writes fail. */
final class FailingStore implements ScheduleStore<String> {
    private final @Nullable Exception ofLoads;
    private final @Nullable Exception ofWrites;

    private FailingStore(@Nullable Exception ofLoads, @Nullable Exception ofWrites) {
        this.ofLoads = ofLoads;
        this.ofWrites = ofWrites;
    }

    static FailingStore ofLoads(Exception failure) {
        return new FailingStore(failure, null);
    }

    static FailingStore ofWrites(Exception failure) {
        return new FailingStore(null, failure);
    }

    @Override
    public Object load(long since, Continuation<? super List<ScheduleRow<String>>> caller) {
        throwIfThere(ofLoads);
        return List.of();
    }

    @Override
    public Object apply(List<ScheduleRow<String>> rows, Continuation<? super Long> caller) {
        throwIfThere(ofWrites);
        return 1L;
    }

    /** Kotlin has no checked exceptions, so its callers expect them everywhere. */
    @SuppressWarnings("unchecked")
    private static <E extends Exception> void throwIfThere(@Nullable Exception failure) throws E {
        if (failure != null) throw (E) failure;
    }

    @Override
    public Flow<List<ScheduleRow<String>>> edits() {
        return FlowKt.emptyFlow();
    }

    @Override
    public Object close(Continuation<? super Unit> caller) {
        return Unit.INSTANCE;
    }
}
