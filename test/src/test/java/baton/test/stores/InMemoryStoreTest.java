package baton.test.stores;

import baton.distributed.CoordinationStore;
import baton.distributed.InMemoryStore;
import baton.test.StoreContract;

class InMemoryStoreTest extends StoreContract {
    private final InMemoryStore shared = new InMemoryStore();

    @Override
    protected CoordinationStore open() {
        return shared;
    }
}
