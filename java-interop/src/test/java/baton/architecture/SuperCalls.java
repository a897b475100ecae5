package baton.architecture;

import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassReader;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.ClassVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.MethodVisitor;
import com.tngtech.archunit.thirdparty.org.objectweb.asm.Opcodes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;

/** Calls of the kind {@code Interface.super.method()}, which ArchUnit does not tell from others. */
final class SuperCalls extends ClassVisitor {
    record Call(String owner, String name, String descriptor) {
        boolean isAbstract() {
            ClassLoader loader = SuperCalls.class.getClassLoader();
            try {
                Class<?>[] parameters = MethodType.fromMethodDescriptorString(descriptor, loader)
                        .parameterArray();
                return Modifier.isAbstract(Class.forName(owner, false, loader)
                        .getMethod(name, parameters)
                        .getModifiers());
            } catch (ReflectiveOperationException e) {
                return true;
            }
        }
    }

    private final List<Call> calls = new ArrayList<>();

    private SuperCalls() {
        super(Opcodes.ASM9);
    }

    static List<Call> of(Class<?> type) {
        SuperCalls visitor = new SuperCalls();
        try (InputStream code = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            new ClassReader(code).accept(visitor, ClassReader.SKIP_DEBUG);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return visitor.calls;
    }

    @Override
    public MethodVisitor visitMethod(
            int access, String name, String descriptor, String signature, String[] exceptions) {
        return new MethodVisitor(Opcodes.ASM9) {
            @Override
            public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
                if (opcode != Opcodes.INVOKESPECIAL || !isInterface) return;
                calls.add(new Call(owner.replace('/', '.'), name, descriptor));
            }
        };
    }
}
