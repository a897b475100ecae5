package baton.waiting.threads;

import baton.InternalBatonApi;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import kotlinx.coroutines.Job;

/**
 * The parts of kotlinx.coroutines' API that a class of Baton uses although kotlinx does not guarantee them. Without a
 * check, the lack of a part would show late: as an error in the middle of an operation, or as a callback that never runs.
 * So the class calls {@link #require} before each use. Code that uses no such part is not affected.
 *
 * <p>The first wait of an application searches. So this uses neither lambdas nor the collections of Kotlin, whose loading
 * would take longer than the search.
 */
@InternalBatonApi
public final class KotlinxNeed {
    private static final String WORKING = "1.8.1 to 1.11.0";
    private static final ClassLoader LOADER = Job.class.getClassLoader();

    /** The result of a search that has found all. */
    private static final String NOTHING = "";

    private final String user;
    private final Supplier<List<Class<?>>> implementations;
    private final String[] members;

    /** Null before the search; then what it has not found. */
    private volatile String missing;

    /**
     * A need of members alone.
     *
     * @param user the subject of the message, in the plural
     * @param members the members of {@code kotlinx.coroutines} that must exist, as {@code Owner.name(Type, Type)}
     */
    public KotlinxNeed(String user, String... members) {
        this(user, null, members);
    }

    /**
     * A need of members, and of no others to be implemented.
     *
     * @param implementations the classes of Baton that must have a body for each method that kotlinx may call
     */
    public KotlinxNeed(String user, Supplier<List<Class<?>>> implementations, String... members) {
        this.user = user;
        this.implementations = implementations;
        this.members = members;
    }

    /**
     * Does nothing if all parts exist. The search runs at the first call.
     *
     * @throws IllegalStateException if a part is missing, at each call; the message names the missing part, the version
     *     that was found and the versions that work
     */
    public void require() {
        String lack = missing;
        if (lack == null) {
            lack = search();
            missing = lack;
        }
        if (lack.equals(NOTHING)) return;
        throw new IllegalStateException(
                user + " do not work with kotlinx.coroutines " + version() + ", which lacks " + lack
                        + ". Use " + WORKING
                        + " with the kotlin-stdlib that it asks for; with Spring Boot, set the Maven properties"
                        + " kotlin-coroutines.version and kotlin.version");
    }

    private String search() {
        try {
            for (String member : members) {
                if (!exists(member)) return member;
            }
            if (implementations == null) return NOTHING;
            for (Class<?> type : implementations.get()) {
                for (Method method : type.getMethods()) {
                    if (Modifier.isAbstract(method.getModifiers())) return "a body for " + signatureOf(method);
                }
            }
            return NOTHING;
        } catch (LinkageError e) {
            return e.toString();
        }
    }

    /** The member may be protected, or declared by a superclass or an interface. */
    private static boolean exists(String member) {
        int dot = member.lastIndexOf('.', member.indexOf('('));
        String signature = member.substring(dot + 1);
        Class<?> type;
        try {
            type = Class.forName("kotlinx.coroutines." + member.substring(0, dot), false, LOADER);
        } catch (ClassNotFoundException e) {
            return false;
        }
        if (isAmong(type.getMethods(), signature)) return true;
        for (; type != null; type = type.getSuperclass()) {
            if (isAmong(type.getDeclaredMethods(), signature)) return true;
        }
        return false;
    }

    private static boolean isAmong(Method[] methods, String signature) {
        for (Method method : methods) {
            if (signature.startsWith(method.getName()) && signatureOf(method).equals(signature)) return true;
        }
        return false;
    }

    private static String signatureOf(Method method) {
        StringBuilder signature = new StringBuilder(method.getName()).append('(');
        for (Class<?> type : method.getParameterTypes()) {
            if (signature.charAt(signature.length() - 1) != '(') signature.append(", ");
            signature.append(type.getSimpleName());
        }
        return signature.append(')').toString();
    }

    private static String version() {
        String file = "META-INF/kotlinx_coroutines_core.version";
        try (InputStream version = LOADER == null ? null : LOADER.getResourceAsStream(file)) {
            if (version != null) return new String(version.readAllBytes(), StandardCharsets.UTF_8).trim();
        } catch (IOException e) {
            // It is for the message alone.
        }
        return "(unknown version)";
    }
}
