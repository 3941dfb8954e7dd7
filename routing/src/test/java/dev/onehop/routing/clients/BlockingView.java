package dev.onehop.routing.clients;

import com.mongodb.client.MongoDatabase;
import com.mongodb.client.MongoIterable;
import com.mongodb.client.gridfs.GridFSBucket;
import com.mongodb.client.gridfs.GridFSBuckets;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Shows an object of the reactive driver, or of Spring Data on it, through the corresponding
 * interface of the synchronous driver. The methods of the two interfaces differ mainly in their
 * results. Tests can therefore be written once for both drivers.
 */
public final class BlockingView implements InvocationHandler {
  private static final Duration AT_MOST = Duration.ofSeconds(60);
  private static final String SYNCHRONOUS = "com.mongodb.client.";

  private final Object reactive;
  private final FirstReplies replies;
  private @Nullable Integer batchSize;

  private BlockingView(Object reactive, FirstReplies replies, @Nullable Integer batchSize) {
    this.reactive = reactive;
    this.replies = replies;
    this.batchSize = batchSize;
  }

  /**
   * The view of a client, or of an object that a client has returned.
   *
   * @param type an interface on the synchronous driver
   * @param reactive the object of the reactive driver, which implements the counterpart of {@code
   *     type}
   * @param replies listens to the client's commands
   */
  public static <T> T of(Class<T> type, Object reactive, FirstReplies replies) {
    return of(type, reactive, replies, null);
  }

  /** The view of an object that returns no cursors. */
  public static <T> T of(Class<T> type, Object reactive) {
    return of(type, reactive, new FirstReplies(), null);
  }

  private static <T> T of(
      Class<T> type, Object reactive, FirstReplies replies, @Nullable Integer batchSize) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            new BlockingView(reactive, replies, batchSize)));
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] given)
      throws Throwable {
    Object[] arguments = given == null ? new Object[0] : given;
    if (method.getDeclaringClass() == Object.class) {
      return method.getName().equals("equals")
          ? (Object) (proxy == arguments[0])
          : method.invoke(reactive, arguments);
    }
    if (method.getDeclaringClass() == Iterable.class && method.isDefault()) {
      return InvocationHandler.invokeDefault(proxy, method, arguments);
    }
    if (proxy instanceof MongoIterable) {
      switch (method.getName()) {
        case "iterator", "cursor" -> {
          return new SubscribedCursor<>((Publisher<?>) reactive, batchSize, replies);
        }
        case "into" -> {
          @SuppressWarnings("unchecked")
          Collection<Object> into = (Collection<Object>) arguments[0];
          into.addAll(Flux.from((Publisher<?>) reactive).collectList().block(AT_MOST));
          return into;
        }
        case "batchSize" -> batchSize = (Integer) arguments[0];
        default -> {}
      }
    }
    @Nullable OutputStream out = null;
    List<Object> passed = new ArrayList<>();
    List<Class<?>> types = new ArrayList<>();
    for (int i = 0; i < arguments.length; i++) {
      if (arguments[i] instanceof OutputStream stream) {
        out = stream;
      } else if (arguments[i] instanceof InputStream stream) {
        passed.add(Flux.just(ByteBuffer.wrap(stream.readAllBytes())));
        types.add(Publisher.class);
      } else {
        passed.add(unwrapped(arguments[i]));
        types.add(counterpart(method.getParameterTypes()[i]));
      }
    }
    Object result;
    try {
      result =
          method(
                  method
                      .getName()
                      .replace("FromStream", "FromPublisher")
                      .replace("ToStream", "ToPublisher"),
                  types)
              .invoke(reactive, passed.toArray());
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
    if (out != null) {
      copy((Publisher<?>) result, out);
      return null;
    }
    return seen(method.getReturnType(), result);
  }

  private static void copy(Publisher<?> chunks, OutputStream out) {
    Flux.from(chunks)
        .cast(ByteBuffer.class)
        .doOnNext(
            chunk -> {
              byte[] bytes = new byte[chunk.remaining()];
              chunk.get(bytes);
              try {
                out.write(bytes);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            })
        .blockLast(AT_MOST);
  }

  private @Nullable Object seen(Class<?> expected, @Nullable Object result) {
    boolean isView = expected.isInterface() && expected.getName().startsWith(SYNCHRONOUS);
    @Nullable Object value = result;
    if (result instanceof Publisher<?> publisher
        && !MongoIterable.class.isAssignableFrom(expected)) {
      value =
          expected == List.class
              ? Flux.from(publisher).collectList().block(AT_MOST)
              : Mono.from(publisher).block(AT_MOST);
      if (expected == Optional.class) {
        return Optional.ofNullable(value);
      }
      if (expected.isPrimitive() && expected != void.class) {
        return value;
      }
    }
    return isView && value != null ? of(expected, value, replies, batchSize) : value;
  }

  private Method method(String name, List<Class<?>> types) {
    Class<?>[] wanted = types.toArray(new Class<?>[0]);
    for (Class<?> type = reactive.getClass(); type != null; type = type.getSuperclass()) {
      for (Class<?> implemented : allInterfaces(type)) {
        try {
          Method found = implemented.getMethod(name, wanted);
          found.setAccessible(true);
          return found;
        } catch (NoSuchMethodException e) {
          // Another interface may have the method.
        }
      }
    }
    throw new DriverCannot("the reactive driver has no " + name + types);
  }

  private static List<Class<?>> allInterfaces(Class<?> type) {
    List<Class<?>> all = new ArrayList<>(List.of(type.getInterfaces()));
    if (type.isInterface()) {
      all.add(type);
    }
    return all;
  }

  private static Class<?> counterpart(Class<?> type) {
    if (type.isInterface() && type.getName().equals(SYNCHRONOUS + "ClientSession")) {
      return com.mongodb.reactivestreams.client.ClientSession.class;
    }
    return type;
  }

  /** The object behind a view, or the argument itself if it is no view. */
  public static @Nullable Object unwrapped(@Nullable Object argument) {
    return argument != null
            && Proxy.isProxyClass(argument.getClass())
            && Proxy.getInvocationHandler(argument) instanceof BlockingView view
        ? view.reactive
        : argument;
  }

  /** A bucket on a database of either driver. */
  public static GridFSBucket bucket(MongoDatabase database, String name) {
    return Proxy.isProxyClass(database.getClass())
            && Proxy.getInvocationHandler(database) instanceof BlockingView view
        ? of(
            GridFSBucket.class,
            com.mongodb.reactivestreams.client.gridfs.GridFSBuckets.create(
                (com.mongodb.reactivestreams.client.MongoDatabase) view.reactive, name),
            view.replies)
        : GridFSBuckets.create(database, name);
  }

  /**
   * Whether a client belongs to the reactive driver, which itself decides when its cursors fetch.
   */
  public static boolean isReactive(Object client) {
    return unwrapped(client) != client;
  }
}
