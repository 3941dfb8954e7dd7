package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.onehop.it.clients.Mode;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.evidence.LocalHits;
import dev.onehop.testbed.evidence.RouterSampling;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import dev.onehop.wire.CapturedLog;
import dev.onehop.wire.ServerAddressName;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A cluster whose URI is a DNS name, also behind a private link. Behind such a link, the names in
 * the metadata do not resolve, and all mongoses have one name with different ports.
 */
@ShardedCluster
class SrvIT {
  /**
   * Longer than the 60 seconds between the driver's look-ups of a record. If {@link #afterLookup}
   * has no effect, the next look-up is therefore in time.
   */
  private static final Duration TIMEOUT = Duration.ofSeconds(90);

  private static final String CLUSTER = "cluster.onehop.test";
  private static final String LINK = "link.onehop.test";
  private static final String NAME = "c";
  private static final int DOCUMENTS = 300;

  @RegisterExtension
  private final CapturedLog warnings =
      new CapturedLog("dev.onehop.routing", "mongoses beside shards can't be reached");

  private final Map<String, String> hosts = new HashMap<>();
  private final List<CuttingLink> links = new ArrayList<>();
  private DnsServer dns;
  private SharedCluster cluster;

  @BeforeEach
  void start(SharedCluster shared) throws IOException {
    cluster = shared;
    dns = new DnsServer();
    cluster.shardCollection(NAME, Numbered.KEY, Numbered.splitAt(100, 200));
  }

  @AfterEach
  void stop() {
    dns.close();
    links.forEach(CuttingLink::close);
  }

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "TARGETED_SYNC"})
  void followsChangedSrvRecord(Mode mode) {
    List<ServerAddressName> named = new ArrayList<>();
    for (String address : cluster.testbed().mongosAddresses()) {
      ServerAddressName mongos = ServerAddressName.parse(address);
      named.add(new ServerAddressName("m" + named.size() + ".onehop.test", mongos.port()));
      hosts.put(named.get(named.size() - 1).host(), mongos.host());
      hosts.put(mongos.host(), mongos.host());
    }
    dns.setServers(CLUSTER, named.get(0));
    try (MongoClient client = mode.client(builder(mode))) {
      MongoCollection<Document> collection = filled(client);
      assertThat(routersOfUnroutedUpdates(collection)).isEqualTo(Set.of(mongos(0)));

      dns.setServers(CLUSTER, named.get(0), named.get(1));
      await()
          .atMost(TIMEOUT)
          .until(() -> routersOfUnroutedUpdates(afterLookup(collection)).contains(mongos(1)));
      assertThat(pointOperations(collection).fraction()).hasValue(1.0);

      dns.setServers(CLUSTER, named.get(1));
      await()
          .atMost(TIMEOUT)
          .until(() -> routersOfUnroutedUpdates(afterLookup(collection)).equals(Set.of(mongos(1))));
      assertThat(pointOperations(collection).fraction()).hasValue(1.0);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "TARGETED_SYNC"})
  void hostMappingLeadsToOwnersMongos(Mode mode) {
    Map<String, String> mapping = link();

    try (MongoClient client = mode.client(builder(mode).hostMapping(mapping))) {
      assertThat(pointOperations(filled(client)).fraction()).hasValue(1.0);
    }
    assertThat(warnings.messages()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "TARGETED_SYNC"})
  void usesNearestMongosAndLogsReasonWithoutMapping(Mode mode) {
    link();

    try (MongoClient client = mode.client(builder(mode))) {
      MongoCollection<Document> collection = filled(client);

      assertThat(pointOperations(collection).fraction().orElseThrow()).isBetween(0.1, 0.7);
      assertThat(collection.countDocuments()).isEqualTo(DOCUMENTS);
    }
    assertThat(warnings.messages())
        .singleElement()
        .asString()
        .contains("hostMapping", "config.mongos", mongos(0), mongos(1), mongos(2));
  }

  /**
   * Puts all mongoses behind one name with different ports. Returns the host mapping from their
   * names in the metadata.
   */
  private Map<String, String> link() {
    hosts.put(LINK, "127.0.0.1");
    Map<String, String> mapping = new TreeMap<>();
    for (String address : cluster.testbed().mongosAddresses()) {
      ServerAddressName mongos = ServerAddressName.parse(address);
      CuttingLink link = CuttingLink.uncut(mongos.host(), mongos.port());
      links.add(link);
      mapping.put(address, LINK + ":" + link.port());
    }
    dns.setServers(
        CLUSTER,
        mapping.values().stream().map(ServerAddressName::parse).toArray(ServerAddressName[]::new));
    return mapping;
  }

  private OneHop.Builder builder(Mode mode) {
    return mode.builder("mongodb+srv://" + CLUSTER + "/?tls=false")
        .applyToClientSettings(settings -> settings.inetAddressResolver(this::resolve));
  }

  /** Replaces the name resolution of the application's host: it knows only {@link #hosts}. */
  private List<InetAddress> resolve(String host) throws UnknownHostException {
    String address = hosts.get(host);
    if (address == null) {
      throw new UnknownHostException(host);
    }
    return List.of(
        InetAddress.getByAddress(host, InetAddress.getAllByName(address)[0].getAddress()));
  }

  /** Interrupts the driver's monitors, which then look up their records at once. */
  private static <T> T afterLookup(T collection) {
    Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().contains("-srv-" + CLUSTER))
        .forEach(Thread::interrupt);
    return collection;
  }

  private String mongos(int index) {
    return cluster.testbed().mongosAddresses().get(index);
  }

  private MongoCollection<Document> filled(MongoClient client) {
    MongoCollection<Document> collection =
        client.getDatabase(cluster.database()).getCollection(NAME);
    collection.deleteMany(new Document());
    collection.insertMany(Numbered.documents(DOCUMENTS));
    return collection;
  }

  private LocalHits pointOperations(MongoCollection<Document> collection) {
    try (RouterSampling sampling = cluster.evidence(NAME).sampleRouters(1)) {
      for (int i = 0; i < DOCUMENTS; i += 5) {
        assertThat(collection.updateOne(Filters.eq(i), Updates.inc("n", 1)).getMatchedCount())
            .isEqualTo(1);
        assertThat(collection.find(Filters.eq(i)).first()).containsEntry("_id", i);
      }
      LocalHits served = sampling.besideOwner();
      assertThat(served.sampled()).isGreaterThanOrEqualTo(2 * DOCUMENTS / 5);
      return served;
    }
  }

  /**
   * Sends updates on all shards, and returns the mongoses that have executed them. These updates
   * have no single owner, so any mongos of the URI can get them.
   */
  private Set<String> routersOfUnroutedUpdates(MongoCollection<Document> collection) {
    Map<String, Long> before = updates();
    for (int i = 0; i < 10; i++) {
      collection.updateMany(new Document(), Updates.inc("m", 1));
    }
    Map<String, Long> after = updates();
    after.entrySet().removeAll(before.entrySet());
    return after.keySet();
  }

  private Map<String, Long> updates() {
    Map<String, Long> updates = new TreeMap<>();
    cluster
        .evidence(NAME)
        .routerOperations()
        .forEach((router, operations) -> updates.put(router, operations.get("update")));
    return updates;
  }
}
