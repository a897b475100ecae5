package users;

import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncMutex;
import baton.micrometer.BatonMetrics;
import baton.scheduler.TaskScheduler;
import baton.sync.Mutex;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import org.junit.jupiter.api.Test;

class PublishedClassesTest {
    @Test
    void everyClass_loadsAndLinks_withAllTypesOfItsMembers() throws Exception {
        int count = 0;
        for (Class<?> one : List.of(Mutex.class, TaskScheduler.class, BatonMetrics.class, AsyncMutex.class)) {
            Path jar = Path.of(
                    one.getProtectionDomain().getCodeSource().getLocation().toURI());
            try (JarFile file = new JarFile(jar.toFile())) {
                for (String name : file.stream().map(Object::toString).toList()) {
                    if (!name.startsWith("baton/") || !name.endsWith(".class")) continue;
                    Class<?> type = Class.forName(name.replace('/', '.').substring(0, name.length() - 6));
                    type.getDeclaredMethods();
                    type.getDeclaredConstructors();
                    type.getDeclaredFields();
                    type.getMethods();
                    count++;
                }
            }
        }
        assertTrue(count > 1000, "only " + count);
    }
}
