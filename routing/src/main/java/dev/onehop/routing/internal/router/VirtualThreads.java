package dev.onehop.routing.internal.router;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jspecify.annotations.Nullable;

/** Methods of threads that Java 17 lacks. */
final class VirtualThreads {
  private static final @Nullable MethodHandle IS_VIRTUAL = isVirtual();

  private VirtualThreads() {}

  private static @Nullable MethodHandle isVirtual() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
    } catch (NoSuchMethodException | IllegalAccessException e) {
      return null;
    }
  }

  /**
   * Whether the current thread is virtual. An interrupt closes the socket that a virtual thread
   * reads.
   */
  static boolean isCurrent() {
    try {
      return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
    } catch (Throwable e) {
      return false;
    }
  }
}
