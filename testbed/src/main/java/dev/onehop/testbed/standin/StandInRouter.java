package dev.onehop.testbed.standin;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import reactor.core.publisher.Mono;

/**
 * A process that replaces a mongos. It accepts connections of MongoDB clients and routes their
 * commands by routing tables, one request at a time per connection.
 *
 * <p>The testbed starts it if no mongos binary is found:
 *
 * <pre>{@code
 * java -cp ... dev.onehop.testbed.standin.StandInRouter
 * --configdb config/127.27.1.1:27019 --bind 127.27.1.1 --port 37017 --advertise 127.27.1.1:27017
 * }</pre>
 *
 * <p>With {@code --local 127.27.1.1:27018=127.27.1.1:17018,...} it connects directly to the servers
 * on the same host. It reaches other servers over links, which add the delays of distant hosts.
 *
 * <p>With {@code --fail-points true} it accepts {@code configureFailPoint} for {@code failCommand}.
 *
 * <p>With {@code --waiting-streams true} its change streams wait until idle shards report a later
 * time, like a mongos' streams.
 *
 * <p>When the router is ready, it prints {@code listening on <address>:<port>}. It runs until it is
 * killed.
 */
public final class StandInRouter {
  private static final Set<String> OPTIONS =
      new TreeSet<>(Set.of("--configdb", "--bind", "--port", "--advertise"));
  private static final String LOCAL = "--local";
  private static final String FAIL_POINTS = "--fail-points";
  private static final String WAITING_STREAMS = "--waiting-streams";
  private static final Duration START_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration REFRESH_INTERVAL = Duration.ofSeconds(30);

  private StandInRouter() {}

  /**
   * Runs until the process is killed.
   *
   * @param arguments the options above; {@code --local}, {@code --fail-points} and {@code
   *     --waiting-streams} are optional
   */
  public static void main(String[] arguments) throws InterruptedException {
    try {
      start(parse(arguments));
    } catch (IllegalArgumentException e) {
      System.err.println("stand-in router: " + e.getMessage());
      System.exit(2);
    } catch (IOException | RuntimeException e) {
      System.err.println("stand-in router: " + e.getMessage());
      System.exit(1);
    }
    new CountDownLatch(1).await();
  }

  private static String required(Map<String, String> options, String name) {
    String value = options.get(name);
    if (value == null) {
      throw new IllegalArgumentException(name + " is missing");
    }
    return value;
  }

  private static void start(Map<String, String> options) throws IOException {
    ServerAddressName advertised = ServerAddressName.parse(required(options, "--advertise"));
    String bind = options.get("--bind");
    InetSocketAddress listen = new InetSocketAddress(bind, Integer.parseInt(options.get("--port")));
    EventLoopGroup group = EventLoops.newGroup("router", 1);
    // The router connects from its own address, by which servers and links identify it.
    MongosRouter router =
        new MongosRouter(
            ClusterAccess.connect(
                required(options, "--configdb"),
                group,
                "onehop-router",
                new InetSocketAddress(bind, 0),
                ways(options.getOrDefault(LOCAL, "")),
                REFRESH_INTERVAL),
            Boolean.parseBoolean(options.get(WAITING_STREAMS)));
    MongosHeartbeat registration = new MongosHeartbeat(router, advertised);
    Mono<Void> ready =
        registration
            .announce()
            .retryWhen(reactor.util.retry.Retry.fixedDelay(100, Duration.ofMillis(200)));
    ready.block(START_TIMEOUT);
    registration.keepAnnouncing();
    RouterServer server =
        new RouterServer(
            router,
            registration,
            Boolean.parseBoolean(options.get(FAIL_POINTS)) ? new FailCommand() : null);
    server.listen(group, listen);
    System.out.println("listening on " + bind + ":" + listen.getPort());
  }

  private static Map<ServerAddressName, InetSocketAddress> ways(String option) {
    Map<ServerAddressName, InetSocketAddress> ways = new HashMap<>();
    for (String pair : option.isEmpty() ? new String[0] : option.split(",", -1)) {
      int equals = pair.indexOf('=');
      if (equals < 0) {
        throw new IllegalArgumentException(
            LOCAL + " needs pairs of the form address=address, not " + pair);
      }
      ServerAddressName listens = ServerAddressName.parse(pair.substring(equals + 1));
      ways.put(
          ServerAddressName.parse(pair.substring(0, equals)),
          new InetSocketAddress(listens.host(), listens.port()));
    }
    return ways;
  }

  private static Map<String, String> parse(String[] arguments) {
    Map<String, String> options = new HashMap<>();
    for (int i = 0; i < arguments.length; i += 2) {
      boolean known =
          OPTIONS.contains(arguments[i])
              || arguments[i].equals(LOCAL)
              || arguments[i].equals(FAIL_POINTS)
              || arguments[i].equals(WAITING_STREAMS);
      if (!known || i + 1 == arguments.length) {
        throw new IllegalArgumentException(
            "unknown option or missing value: " + arguments[i] + "; the options are " + OPTIONS);
      }
      options.put(arguments[i], arguments[i + 1]);
    }
    Set<String> missing = new TreeSet<>(OPTIONS);
    missing.removeAll(options.keySet());
    if (!missing.isEmpty()) {
      throw new IllegalArgumentException("missing: " + String.join(", ", missing));
    }
    return options;
  }
}
