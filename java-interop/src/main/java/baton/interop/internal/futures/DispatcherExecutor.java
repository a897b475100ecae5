package baton.interop.internal.futures;

import baton.Priority;
import baton.scheduler.PriorityDispatcher;
import kotlin.coroutines.EmptyCoroutineContext;
import org.jspecify.annotations.Nullable;

/** The commands of a {@link baton.interop.PriorityExecutor}, as blocks of its dispatcher. */
public final class DispatcherExecutor extends ManagedExecutor {
    private final PriorityDispatcher dispatcher;
    private final Priority priority;
    private final PriorityDispatcher view;

    public DispatcherExecutor(PriorityDispatcher dispatcher, Priority priority) {
        this.dispatcher = dispatcher;
        this.priority = priority;
        this.view = dispatcher.level(priority);
    }

    @Override
    @Nullable
    Throwable submitWork(Work work) {
        view.dispatch(EmptyCoroutineContext.INSTANCE, work);
        return null;
    }

    @Override
    public String toString() {
        return "PriorityExecutor (" + priority + ", " + state() + ", on " + dispatcher + ")";
    }
}
