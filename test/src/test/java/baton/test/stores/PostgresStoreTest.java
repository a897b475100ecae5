package baton.test.stores;

import baton.distributed.CoordinationStore;
import baton.distributed.JdbcStore;
import baton.scheduler.jdbc.databases.PostgresDatabase;
import baton.test.StoreContract;
import org.junit.jupiter.api.AfterEach;

class PostgresStoreTest extends StoreContract {
    private final PostgresDatabase database = new PostgresDatabase();

    @Override
    protected CoordinationStore open() {
        return new JdbcStore(database.getSource());
    }

    @AfterEach
    void drop() {
        database.close();
    }
}
