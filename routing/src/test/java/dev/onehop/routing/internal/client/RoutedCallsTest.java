package dev.onehop.routing.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.routing.OneHop;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/**
 * Every method of client, database and collection, called with each of its arguments missing: what
 * the official client throws at the call, ours throws too. No server is needed for that.
 */
class RoutedCallsTest {
  private static final String NOWHERE = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100";

  private static MongoClient official;
  private static MongoClient ours;

  @BeforeAll
  static void connect() {
    official =
        MongoClients.create(
            MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(NOWHERE))
                .build());
    ours = OneHop.builder(NOWHERE).reactiveClient();
  }

  @AfterAll
  static void close() {
    official.close();
    ours.close();
  }

  static Stream<Arguments> methods() {
    return Stream.of(MongoClient.class, MongoDatabase.class, MongoCollection.class)
        .flatMap(type -> Arrays.stream(type.getMethods()))
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .filter(method -> !method.getName().equals("close"))
        .filter(method -> method.getParameterCount() > 0)
        .sorted(Comparator.comparing(Method::toString))
        .map(Arguments::of);
  }

  @ParameterizedTest
  @MethodSource("methods")
  void missingArgumentsAreRefusedAlike(Method method) {
    List<String> differences = new ArrayList<>();
    for (int missing = -1; missing < method.getParameterCount(); missing++) {
      if (missing >= 0 && method.getParameterTypes()[missing].isPrimitive()) {
        continue;
      }
      String expected = outcome(official, method, missing);
      String actual = outcome(ours, method, missing);
      if (!actual.equals(expected)) {
        differences.add("argument " + missing + ": " + actual + " instead of " + expected);
      }
    }

    assertThat(differences).as(method.toString()).isEmpty();
  }

  private static String outcome(MongoClient client, Method method, int missing) {
    Object target = target(client, method);
    Object[] arguments = new Object[method.getParameterCount()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = i == missing ? null : sample(client, method.getParameterTypes()[i]);
    }
    Throwable thrown = catchThrowable(() -> method.invoke(target, arguments));
    Throwable cause =
        thrown instanceof InvocationTargetException wrapped ? wrapped.getCause() : thrown;
    return cause == null ? "nothing" : cause.getClass().getName() + ": " + cause.getMessage();
  }

  private static Object target(MongoClient client, Method method) {
    MongoDatabase database = client.getDatabase("test");
    if (method.getDeclaringClass() == MongoCollection.class) {
      return database.getCollection("documents");
    }
    return method.getDeclaringClass() == MongoDatabase.class ? database : client;
  }

  private static @Nullable Object sample(MongoClient client, Class<?> type) {
    if (type == ClientSession.class) {
      return Mono.from(client.startSession()).block();
    }
    if (type == Bson.class || type == Object.class) {
      return new Document("$set", new Document("a", 1));
    }
    if (type == Class.class) {
      return Document.class;
    }
    if (type == String.class) {
      return "name";
    }
    if (type == List.class) {
      return List.of(new Document("$match", new Document()));
    }
    if (type == long.class) {
      return 1L;
    }
    if (type == TimeUnit.class) {
      return TimeUnit.SECONDS;
    }
    return Samples.of(type);
  }
}
