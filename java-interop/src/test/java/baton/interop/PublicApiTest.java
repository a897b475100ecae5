package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The exported package as Java code sees it. */
class PublicApiTest {
    private static List<Class<?>> publicClasses() throws Exception {
        List<Class<?>> found = new ArrayList<>();
        for (Class<?> type : classes()) if (isVisible(type)) found.add(type);
        assertTrue(found.contains(AsyncMutex.class) && found.contains(LeakReport.Leak.class));
        return found;
    }

    private static List<Class<?>> classes() throws Exception {
        Path root = Path.of(AsyncSemaphore.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<Class<?>> found = new ArrayList<>();
        File[] files = root.resolve("baton/interop").toFile().listFiles((dir, name) -> name.endsWith(".class"));
        for (File file : files) {
            String name = file.getName().substring(0, file.getName().length() - ".class".length());
            if (!name.equals("package-info")) found.add(Class.forName("baton.interop." + name));
        }
        return found;
    }

    /** The internals live in packages that the module does not export. */
    @Test
    void exportedPackage_butForSuperclassesWithPublicMethods_holdsPublicTypesAlone() throws Exception {
        Set<String> found = new TreeSet<>();
        for (Class<?> type : classes()) {
            if (!isVisible(type) && !isPrivate(type)) found.add(type.getSimpleName());
        }
        assertEquals(Set.of("BinaryStages", "ChannelControl", "UnaryStages"), found);
    }

    /** Kotlin's compiler refuses a call to a method that is declared in a package which is not exported. */
    @Test
    void publicMethods_areDeclaredInNoInternalPackage() throws Exception {
        List<String> found = new ArrayList<>();
        for (Class<?> type : publicClasses()) {
            for (Method method : type.getMethods()) {
                String owner = method.getDeclaringClass().getPackageName();
                if (isForeign(owner + ".")) found.add(method.toGenericString());
            }
        }
        assertEquals(List.of(), found);
    }

    /** An implementation detail of one file: nested and private, local or anonymous. */
    private static boolean isPrivate(Class<?> type) {
        return Modifier.isPrivate(type.getModifiers()) || type.getEnclosingMethod() != null || type.isAnonymousClass();
    }

    private static boolean isVisible(Class<?> type) {
        for (Class<?> t = type; t != null; t = t.getEnclosingClass()) {
            if (!Modifier.isPublic(t.getModifiers())) return false;
        }
        return true;
    }

    @Test
    void publicClasses_areFinalOrInterfaces() throws Exception {
        for (Class<?> type : publicClasses()) {
            assertTrue(type.isInterface() || Modifier.isFinal(type.getModifiers()), type::getName);
        }
    }

    @Test
    void publicSignatures_nameNoKotlinType() throws Exception {
        List<String> found = new ArrayList<>();
        for (Class<?> type : publicClasses()) {
            for (Executable member : Stream.concat(Stream.of(type.getMethods()), Stream.of(type.getConstructors()))
                    .toList()) {
                Set<String> names = new LinkedHashSet<>();
                for (Type t : member.getGenericParameterTypes()) collect(t, names);
                for (Type t : member.getGenericExceptionTypes()) collect(t, names);
                for (Type t : member.getTypeParameters()) collect(t, names);
                if (member instanceof Method method) collect(method.getGenericReturnType(), names);
                if (names.stream().anyMatch(PublicApiTest::isForeign)) found.add(member.toGenericString());
            }
            for (Field field : type.getFields()) {
                Set<String> names = new LinkedHashSet<>();
                collect(field.getGenericType(), names);
                if (names.stream().anyMatch(PublicApiTest::isForeign)) found.add(field.toGenericString());
            }
        }
        assertEquals(List.of(), found);
    }

    private static boolean isForeign(String name) {
        return name.startsWith("kotlin.")
                || name.startsWith("kotlinx.")
                || name.startsWith("baton.waiting.")
                || name.startsWith("baton.interop.internal.")
                || name.startsWith("baton.scheduler.bridge.");
    }

    private static void collect(Type type, Set<String> names) {
        if (!names.add(type.getTypeName())) return;
        if (type instanceof Class<?> c) {
            names.add(c.getName());
        } else if (type instanceof ParameterizedType p) {
            collect(p.getRawType(), names);
            for (Type t : p.getActualTypeArguments()) collect(t, names);
        } else if (type instanceof WildcardType w) {
            for (Type t : w.getUpperBounds()) collect(t, names);
            for (Type t : w.getLowerBounds()) collect(t, names);
        } else if (type instanceof TypeVariable<?> v) {
            for (Type t : v.getBounds()) collect(t, names);
        } else if (type instanceof GenericArrayType a) {
            collect(a.getGenericComponentType(), names);
        }
    }
}
