package baton.architecture;

import baton.distributed.Cluster;
import baton.distributed.redis.RedisStore;
import baton.interop.AsyncMutex;
import baton.micrometer.BatonMetrics;
import baton.scheduler.TaskScheduler;
import baton.shared.SharedRegion;
import baton.sync.Mutex;
import baton.test.ExploreScope;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/** The classes of the published modules, without their tests. */
final class BatonClasses {
    static final List<Path> MODULES = Stream.of(
                    Mutex.class,
                    SharedRegion.class,
                    Cluster.class,
                    RedisStore.class,
                    TaskScheduler.class,
                    BatonMetrics.class,
                    ExploreScope.class,
                    AsyncMutex.class)
            .map(BatonClasses::home)
            .toList();

    private BatonClasses() {}

    static JavaClasses imported() {
        return new ClassFileImporter()
                .importLocations(MODULES.stream().map(BatonClasses::location).toList());
    }

    /** A folder of classes, or the jar of a module that this build has packaged. */
    private static Location location(Path home) {
        if (Files.isDirectory(home)) return Location.of(home);
        try {
            return Location.of(new JarFile(home.toFile()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path home(Class<?> type) {
        try {
            URI location =
                    type.getProtectionDomain().getCodeSource().getLocation().toURI();
            return Path.of(location);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
