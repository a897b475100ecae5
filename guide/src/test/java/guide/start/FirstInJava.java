package guide.start;

import baton.interop.AsyncSemaphore;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class FirstInJava {
    public static void main(String[] args) throws InterruptedException {
        AsyncSemaphore uplink = AsyncSemaphore.create(2, "uplink");
        ExecutorService threads = Executors.newCachedThreadPool(); // on JDK 21: newVirtualThreadPerTaskExecutor()
        for (int i = 0; i < 3; i++) {
            int n = i;
            threads.submit(() -> uplink.blocking().call(() -> {
                System.out.println("request " + n + " begins: " + uplink);
                return n;
            }));
        }
        threads.shutdown();
        threads.awaitTermination(10, TimeUnit.SECONDS);
    }
}
