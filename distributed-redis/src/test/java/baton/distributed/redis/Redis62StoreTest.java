package baton.distributed.redis;

import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.CoordinationStore;
import baton.test.StoreContract;
import io.lettuce.core.RedisClient;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The oldest server that is supported. Run once more with each newer client, see the POM. */
class Redis62StoreTest extends StoreContract {
    private static RedisProcess server;

    @BeforeAll
    static void startServer() throws IOException {
        server = RedisProcess.start(RedisProcess.REDIS_6_2, false);
    }

    @AfterAll
    static void endServer() throws Exception {
        if (server != null) server.close();
    }

    @BeforeEach
    void empty() throws IOException {
        server.ask("FLUSHALL");
    }

    @Override
    protected CoordinationStore open() {
        return new RedisStore(server.uri());
    }

    @Test
    void client_isThatOfTheProbe() {
        String expected = System.getProperty("lettuce.probe.version", "6.6.0");
        String path = RedisClient.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath();
        assertTrue(path.contains("lettuce-core-" + expected), path);
    }
}
