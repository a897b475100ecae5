package baton.distributed.redis;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A server of Redis, from a binary that Maven has brought. It keeps its data over a kill if it is to. */
final class RedisProcess implements AutoCloseable {
    static final String REDIS_7_0 = "redis-server-7.0.15-linux-amd64";
    static final String REDIS_6_2 = "redis-server-6.2.6-v5-linux-amd64";

    private final Path folder;
    private final List<String> command = new ArrayList<>();
    private final int port;
    private Process process;

    private RedisProcess(String binary, boolean isKept) throws IOException {
        folder = Files.createTempDirectory("baton-redis");
        Path program = folder.resolve("redis-server");
        try (InputStream in = RedisProcess.class.getClassLoader().getResourceAsStream(binary)) {
            Files.copy(in, program);
        }
        if (!program.toFile().setExecutable(true)) throw new IOException(program + " cannot be made executable");
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        command.addAll(List.of(program.toString(), "--port", "" + port, "--bind", "127.0.0.1", "--save", ""));
        command.addAll(List.of("--appendonly", isKept ? "yes" : "no", "--appendfsync", "always"));
        command.addAll(List.of("--dir", folder.toString(), "--loglevel", "notice"));
        start();
    }

    /** Skips the test where there is no binary, unless {@code -Dredis.required=true}. */
    static RedisProcess start(String binary, boolean isKept) throws IOException {
        String os = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        boolean isHere = os.equals("Linux amd64");
        if (!isHere && Boolean.getBoolean("redis.required")) throw new IllegalStateException("no Redis for " + os);
        if (!isHere) System.err.println("NO REDIS HERE: ITS TESTS WERE SKIPPED (" + os + ")");
        assumeTrue(isHere, "no Redis");
        return new RedisProcess(binary, isKept);
    }

    /** Starts it again after a {@link #kill}, on the same port. */
    void start() throws IOException {
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        BufferedReader log = process.inputReader();
        List<String> lines = new ArrayList<>();
        for (String line = log.readLine(); ; line = log.readLine()) {
            if (line == null) throw new IOException("Redis has ended: " + lines);
            lines.add(line);
            if (line.contains("Ready to accept connections")) break;
        }
        Thread rest = new Thread(() -> log.lines().forEach(line -> {}), "redis-log");
        rest.setDaemon(true);
        rest.start();
    }

    /** As a crash does. */
    void kill() throws IOException {
        try {
            if (!process.destroyForcibly().waitFor(120, TimeUnit.SECONDS)) throw new IOException("Redis lives");
        } catch (InterruptedException e) {
            throw new InterruptedIOException();
        }
    }

    int port() {
        return port;
    }

    /** Whose calls do not fail on a machine that is busy. */
    String uri() {
        return uri(port);
    }

    static String uri(int port) {
        return "redis://localhost:" + port + "?timeout=100s";
    }

    /** What redis-cli would show. */
    List<String> ask(String line) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write((line + "\r\nQUIT\r\n").getBytes(StandardCharsets.UTF_8));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return answer.lines().filter(it -> !it.matches("[$*].*")).toList();
        }
    }

    @Override
    public void close() throws IOException {
        kill();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }
}
