package dev.onehop.routing.internal.targeted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerConnectionState;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import com.mongodb.selector.ServerSelector;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.Affinity.Beside;
import dev.onehop.routing.internal.affinity.Affinity.Source;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.routing.internal.affinity.RouterProbe;
import dev.onehop.wire.CapturedLog;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.ServerMonitor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** ServerMonitor is scripted. A test sets the state of each server. */
class MongosesTest {
  private static final String FOREIGN = "foreign";

  @RegisterExtension
  private final CapturedLog refused =
      new CapturedLog(ClusterPin.class.getName(), "is a mongos of another cluster");

  private final Map<String, ServerDescription> servers = new HashMap<>();
  private final Map<String, Integer> open = new ConcurrentSkipListMap<>();
  private final List<String> opened = new ArrayList<>();
  private final AtomicLong clock = new AtomicLong();
  private final Mongoses mongoses = mongoses(null);
  private String seen = "";

  @Test
  void eachMongosIsWatchedOnce() {
    mongoses.update(affinity("x,y,z,seed", "a=x", "b=x,y", "c=seed"));

    assertThat(open).isEqualTo(Map.of("seed", 1, "x", 1, "y", 1));
  }

  @Test
  void watchesFallbackMongoses() {
    mongoses.update(affinity("seed,x,y,z", "a=seed"));

    assertThat(open).isEqualTo(Map.of("seed", 1, "x", 1, "y", 1));
  }

  @Test
  void updateClosesUnusedMonitors() {
    mongoses.update(affinity("x,y,z", "a=x", "b=y"));
    mongoses.update(affinity("x,y,z", "a=x", "b=z"));

    await().untilAsserted(() -> assertThat(open).isEqualTo(Map.of("seed", 1, "x", 1, "z", 1)));
    assertThat(opened).containsExactlyInAnyOrder("seed", "x", "y", "z");

    mongoses.close();
    mongoses.update(affinity("x,y,z", "a=x", "b=z"));

    assertThat(open).isEmpty();
    assertThat(mongoses.usableBeside("a")).isEmpty();
  }

  @Test
  void usesOnlyMongosesBesideShard() {
    up("seed");
    up("x");
    up("y");
    mongoses.update(affinity("x,y", "a=x", "b=x,y", "c="));

    assertThat(beside("a")).isEqualTo("x");
    assertThat(beside("b")).isEqualTo("x,y");
    assertThat(beside("c")).isEmpty();
    assertThat(beside("unknown")).isEmpty();
    assertThat(names(mongoses.usableSeeds())).isEqualTo("seed");
    assertThat(names(mongoses.usableOthers())).isEqualTo("x,y");
  }

  @Test
  void seedCanBeBesideShard() {
    up("seed");
    mongoses.update(affinity("seed", "a=seed"));

    assertThat(beside("a")).isEqualTo("seed");
  }

  @Test
  void waitsForMongosWithoutReply() {
    mongoses.update(affinity("x,y", "a=x,y"));
    assertThat(mongoses.usableBeside("a")).isNull();

    down("x", new IOException("refused"));
    assertThat(mongoses.usableBeside("a")).isNull();

    down("y", new IOException("refused"));
    assertThat(mongoses.usableBeside("a")).isEmpty();

    up("y");
    assertThat(beside("a")).isEqualTo("y");
  }

  @Test
  void stopsWaitingAfterTwoSeconds() {
    clock.addAndGet(TimeUnit.MINUTES.toNanos(1));
    mongoses.update(affinity("x", "a=x"));
    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_999));
    assertThat(mongoses.usableBeside("a")).isNull();
    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));

    assertThat(mongoses.usableBeside("a")).isEmpty();
  }

  @Test
  void appliesSelectorOfApplication() {
    Mongoses selected = mongoses(cluster -> others("x", cluster.getServerDescriptions()));
    up("x");
    up("y");
    selected.update(affinity("x,y", "a=x", "b=x,y"));

    assertThat(selected.usableBeside("a")).isEmpty();
    assertThat(names(Objects.requireNonNull(selected.usableBeside("b")))).isEqualTo("y");
    assertThat(names(selected.usableOthers())).isEqualTo("y");
    assertThat(seen).isEqualTo("seed,x,y");
  }

  @Test
  void doesNotUseMongosOfAnotherCluster() {
    up("seed");
    up(FOREIGN);
    mongoses.update(affinity("seed," + FOREIGN, "a=" + FOREIGN));

    assertThat(mongoses.usableBeside("a")).isEmpty();
    assertThat(mongoses.usableOthers()).isEmpty();
  }

  @Test
  void doesNotUseOtherServerTypes() {
    servers.put(
        "x", ServerDescription.builder(known("x", true, null)).type(ServerType.STANDALONE).build());
    down("seed", new IOException("refused"));
    mongoses.update(affinity("x", "a=x"));

    assertThat(mongoses.usableBeside("a")).isNull();
    assertThat(mongoses.usableOthers()).isEmpty();
    assertThat(names(mongoses.all())).isEqualTo("seed");
  }

  private List<ServerDescription> others(String host, List<ServerDescription> all) {
    seen = names(all);
    return all.stream().filter(server -> !server.getAddress().getHost().equals(host)).toList();
  }

  private Mongoses mongoses(@Nullable ServerSelector selector) {
    MongoClientSettings.Builder settings = MongoClientSettings.builder();
    settings.applyToClusterSettings(
        cluster -> cluster.hosts(List.of(new ServerAddress("seed"))).serverSelector(selector));
    ClusterPin pin =
        new ClusterPin(
            router ->
                Mono.just(
                    new RouterProbe.Identity(
                        new ObjectId(router.host().equals(FOREIGN) ? 2 : 1, 0), null)),
            List.of(new ServerAddress("seed")));
    pin.check(names("seed,x,y,z," + FOREIGN)).block();
    return new Mongoses(
        settings.build(), pin, PreferredZones.NONE, (of, changed) -> watch(of), clock::get);
  }

  private ServerMonitor watch(MongoClientSettings settings) {
    String host = settings.getClusterSettings().getHosts().get(0).getHost();
    open.merge(host, 1, Integer::sum);
    opened.add(host);
    return new ServerMonitor() {
      @Override
      public ClusterDescription description() {
        return new ClusterDescription(
            ClusterConnectionMode.MULTIPLE,
            ClusterType.SHARDED,
            List.of(servers.getOrDefault(host, known(host, false, null))));
      }

      @Override
      public void checkNow() {}

      @Override
      public void close() {
        open.computeIfPresent(host, (name, count) -> count == 1 ? null : count - 1);
      }
    };
  }

  private void up(String host) {
    servers.put(host, known(host, true, null));
  }

  private void down(String host, Throwable why) {
    servers.put(host, known(host, false, why));
  }

  private static ServerDescription known(String host, boolean ok, @Nullable Throwable why) {
    return ServerDescription.builder()
        .address(new ServerAddress(host))
        .type(ok ? ServerType.SHARD_ROUTER : ServerType.UNKNOWN)
        .state(ok ? ServerConnectionState.CONNECTED : ServerConnectionState.CONNECTING)
        .ok(ok)
        .exception(why)
        .build();
  }

  private String beside(String shard) {
    return names(Objects.requireNonNull(mongoses.usableBeside(shard)));
  }

  private static String names(List<ServerDescription> servers) {
    return servers.stream()
        .map(server -> server.getAddress().getHost())
        .collect(Collectors.toCollection(TreeSet::new))
        .stream()
        .collect(Collectors.joining(","));
  }

  private static List<ServerAddressName> names(String hosts) {
    return Arrays.stream(hosts.split(","))
        .filter(host -> !host.isEmpty())
        .map(host -> new ServerAddressName(host, 27017))
        .toList();
  }

  /** An affinity with live mongoses, and with shards written {@code id=host,...}. */
  private static Affinity affinity(String routers, String... shards) {
    Map<String, Beside> beside = new HashMap<>();
    for (String shard : shards) {
      String[] parts = shard.split("=", -1);
      List<ServerAddressName> hosts = names(parts[1]);
      beside.put(parts[0], new Beside(hosts, hosts.isEmpty() ? Source.NONE : Source.SAME_HOST));
    }
    return new Affinity(names(routers), beside);
  }
}
