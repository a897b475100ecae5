package baton.distributed;

class InMemoryStoreTest extends StoreContract {
    private InMemoryStore shared = new InMemoryStore();

    @Override
    protected CoordinationStore create(boolean isFresh) {
        if (isFresh) shared = new InMemoryStore();
        return shared;
    }
}
