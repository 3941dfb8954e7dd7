package dev.onehop.it;

import static org.awaitility.Awaitility.await;

import com.mongodb.client.model.Filters;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bson.conversions.Bson;
import reactor.core.publisher.Mono;

/**
 * Finds of several clients in a separate process, first without a free file descriptor and then
 * with free ones. The process prints a line for each client.
 */
public final class DescriptorsMain {
  /** The number of parallel finds. It is so large that a client needs new sockets. */
  static final int FINDS = 60;

  private static final Duration HANG_LIMIT = Duration.ofSeconds(20);
  private static final Duration RECOVERY_LIMIT = Duration.ofSeconds(5);

  private DescriptorsMain() {}

  /** Starts the process with a low limit of file descriptors. */
  static Process start(String url, List<String> clients, Path log) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "sh",
                "-c",
                "ulimit -n 1024; exec \"$@\"",
                "sh",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-cp",
                System.getProperty("java.class.path"),
                DescriptorsMain.class.getName(),
                url));
    command.addAll(clients);
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  /** A client, with its function that starts a find. */
  private record Finding(
      String client, Function<Bson, CompletableFuture<Object>> find, Runnable close) {
    static Finding of(String client, String url) {
      String options = url + (url.contains("?") ? "&" : "/?") + "maxPoolSize=100";
      if (client.equals("plain sync")) {
        return sync(client, com.mongodb.client.MongoClients.create(options));
      }
      if (client.equals("plain reactive")) {
        return reactive(client, com.mongodb.reactivestreams.client.MongoClients.create(options));
      }
      OneHop.Builder builder =
          OneHop.builder(options)
              .routing(client.startsWith("direct") ? RoutingMode.DIRECT : RoutingMode.TARGETED);
      if (client.contains("pipelined")) {
        builder.pipelining(sockets -> sockets.socketsPerServer(5));
      }
      return client.contains("reactive")
          ? reactive(client, builder.client(com.mongodb.reactivestreams.client.MongoClient.class))
          : sync(client, builder.client(com.mongodb.client.MongoClient.class));
    }

    private static Finding sync(String name, com.mongodb.client.MongoClient client) {
      var collection = client.getDatabase("it").getCollection("descriptors");
      return new Finding(
          name,
          filter -> {
            CompletableFuture<Object> found = new CompletableFuture<>();
            Thread thread =
                new Thread(
                    () -> {
                      try {
                        found.complete(collection.find(filter).first());
                      } catch (Throwable failure) {
                        found.completeExceptionally(failure);
                      }
                    });
            thread.setDaemon(true);
            thread.start();
            return found;
          },
          client::close);
    }

    private static Finding reactive(
        String name, com.mongodb.reactivestreams.client.MongoClient client) {
      var collection = client.getDatabase("it").getCollection("descriptors");
      return new Finding(
          name,
          filter -> Mono.<Object>from(collection.find(filter).first()).toFuture(),
          client::close);
    }

    CompletableFuture<Object> one(int id) {
      return find.apply(Filters.eq("_id", id));
    }

    /** Starts finds that each need a connection for a while. */
    List<CompletableFuture<Object>> many() {
      return Stream.iterate(0, n -> n + 1)
          .limit(FINDS)
          .map(
              n ->
                  find.apply(Filters.and(Filters.eq("_id", n), Filters.where("sleep(20) || true"))))
          .toList();
    }
  }

  public static void main(String[] args) throws IOException {
    List<Finding> all = Stream.of(args).skip(1).map(client -> Finding.of(client, args[0])).toList();
    for (Finding each : all) {
      each.one(1).join();
    }
    List<FileInputStream> taken = takeDescriptors();
    List<List<CompletableFuture<Object>>> during = all.stream().map(Finding::many).toList();
    List<String> without = during.stream().map(DescriptorsMain::outcome).toList();
    if (without.stream().anyMatch(each -> !each.startsWith("0 hang"))) {
      Thread.getAllStackTraces()
          .forEach(
              (thread, stack) ->
                  System.out.println(
                      thread
                          + Stream.of(stack)
                              .map(frame -> "\n    " + frame)
                              .collect(Collectors.joining())));
    }
    for (FileInputStream each : taken) {
      each.close();
    }
    for (int n = 0; n < all.size(); n++) {
      Finding client = all.get(n);
      String again = "";
      try {
        await()
            .atMost(RECOVERY_LIMIT)
            .ignoreExceptions()
            .until(() -> client.one(1).get(1, TimeUnit.SECONDS) != null);
      } catch (RuntimeException never) {
        again = " (" + never.getMessage() + ")";
      }
      System.out.printf(
          "%s | without: %s | with: %s%s%n",
          client.client(),
          without.get(n),
          outcome(Stream.iterate(0, id -> id + 1).limit(FINDS).map(client::one).toList()),
          again);
    }
    System.exit(0);
  }

  private static List<FileInputStream> takeDescriptors() {
    List<FileInputStream> taken = new ArrayList<>();
    try {
      while (true) {
        taken.add(new FileInputStream("/dev/null"));
      }
    } catch (IOException none) {
      return taken;
    }
  }

  private static String outcome(List<CompletableFuture<Object>> finds) {
    CompletableFuture<Void> all = CompletableFuture.allOf(finds.toArray(CompletableFuture[]::new));
    long start = System.nanoTime();
    try {
      all.handle((found, failure) -> "done").get(HANG_LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException hang) {
      // Some finds hang. They are counted below.
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    int hanging = 0;
    int found = 0;
    Map<String, Integer> failures = new TreeMap<>();
    for (CompletableFuture<Object> each : finds) {
      if (!each.isDone()) {
        hanging++;
      } else if (each.isCompletedExceptionally()) {
        Throwable failure = each.handle((nothing, why) -> why).join();
        failures.merge(
            failure.getClass().getSimpleName() + ": " + failure.getMessage(), 1, Integer::sum);
      } else if (each.join() != null) {
        found++;
      }
    }
    return "%d hang, %d found in %d ms, failures %s"
        .formatted(hanging, found, took.toMillis(), failures);
  }
}
