package dev.onehop.routing.internal.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.affinity.Affinity.Source;
import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AffinityRulesTest {
  private static final long NOW = 1_700_000_000_000L;

  private final AffinityRules rules = new AffinityRules(Map.of());

  @Test
  void mongosOnHostOfShardIsBesideShard() {
    Affinity affinity =
        choose(
            List.of(shard("s0", "s0/or1:27018,or2:27018"), shard("s1", "s1/ca1:27018")),
            List.of(mongos("va1:27017", 0), mongos("or1:27017", 0), mongos("OR2:27017", 5)));

    assertThat(affinity.besideShard("s0")).containsExactly(name("or1:27017"), name("or2:27017"));
    assertThat(affinity.besideShard("s1")).isEmpty();
    assertThat(affinity.besideShard("s9")).isEmpty();
    assertThat(affinity.shardsWithRouter()).containsExactly("s0");
    assertThat(affinity.routers()).hasSize(3);
  }

  @Test
  void usesOnlyHostOfKnownPrimary() {
    ClusterMembers members =
        members(
            List.of(shard("s0", "s0/or1:27018,or2:27018")),
            List.of(mongos("or1:27017", 0), mongos("or2:27017", 0)));

    assertThat(rules.undecidedByMembers(members)).containsExactly("s0");
    for (String host : List.of("or1", "or2")) {
      assertThat(
              rules
                  .apply(
                      members,
                      Map.of("s0", name(host + ":27018")),
                      Map.of(),
                      router -> true,
                      Affinity.EMPTY)
                  .besideShard("s0"))
          .containsExactly(name(host + ":27017"));
    }
  }

  @Test
  void needsPrimaryOnlyIfHostsAreAmbiguous() {
    assertThat(
            rules.undecidedByMembers(
                members(
                    List.of(
                        shard("oneHost", "a/or1:27018,or1:27028"),
                        shard("noMongos", "b/ca1:27018,ca2:27018")),
                    List.of(mongos("or1:27017", 0)))))
        .isEmpty();
  }

  @Test
  void ignoresMongosWithOldPing() {
    Affinity affinity =
        choose(
            List.of(shard("s0", "s0/or1:27018")),
            List.of(mongos("or1:27017", 31), mongos("or1:27117", 30), mongos("va1:27017", 0)));

    assertThat(affinity.besideShard("s0")).containsExactly(name("or1:27117"));
  }

  @Test
  void comparesPingsWithNewestPing() {
    Affinity affinity =
        choose(
            List.of(shard("s0", "s0/or1:27018")),
            List.of(
                new BsonDocument("_id", new BsonString("or1:27017"))
                    .append("ping", new BsonDateTime(1))));

    assertThat(affinity.shardsWithRouter()).containsExactly("s0");
  }

  @Test
  void acceptsEmptyCluster() {
    assertThat(choose(List.of(), List.of())).isEqualTo(Affinity.EMPTY);
  }

  @Test
  void mapsNamesBeforeComparingHosts() {
    Map<String, String> nat =
        Map.of(
            "mongos-0.internal:27017", "gate.example:30001",
            "shard-0.internal:27018", "gate.example:30002");

    Affinity affinity =
        rules.apply(
            ClusterMembers.of(
                List.of(shard("s0", "s0/shard-0.internal:27018")),
                List.of(mongos("mongos-0.internal:27017", 0)),
                known -> name(nat.getOrDefault(known.toString(), known.toString()))),
            Map.of(),
            Map.of(),
            router -> true,
            Affinity.EMPTY);

    assertThat(affinity.routers()).containsExactly(name("gate.example:30001"));
    assertThat(affinity.besideShard("s0")).containsExactly(name("gate.example:30001"));
  }

  /**
   * A private link has one host name for all servers, and a port for each mongos. So equal mapped
   * host names prove nothing.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void comparesInternalNamesBehindSharedName(boolean membersToo) {
    Map<String, String> link =
        Map.of(
            "h1.internal:27017",
            "link.example:1024",
            "h2.internal:27017",
            "link.example:1025",
            "h1.internal:27018",
            membersToo ? "link.example:2024" : "h1.internal:27018",
            "h2.internal:27018",
            membersToo ? "link.example:2025" : "h2.internal:27018");
    ClusterMembers members =
        ClusterMembers.of(
            List.of(
                shard("s0", "s0/h1.internal:27018"),
                shard("s1", "s1/h2.internal:27018"),
                shard("s2", "s2/h1.internal:27018,h2.internal:27018")),
            List.of(mongos("h1.internal:27017", 0), mongos("h2.internal:27017", 0)),
            known -> name(link.get(known.toString())));

    assertThat(rules.undecidedByMembers(members)).containsExactly("s2");
    Affinity affinity =
        rules.apply(
            members,
            Map.of("s2", name("h2.internal:27018")),
            Map.of(),
            router -> true,
            Affinity.EMPTY);
    assertThat(affinity.besideShard("s0")).containsExactly(name("link.example:1024"));
    assertThat(affinity.besideShard("s1")).containsExactly(name("link.example:1025"));
    assertThat(affinity.besideShard("s2")).containsExactly(name("link.example:1025"));
  }

  @Test
  void configuredRoutersOverrideNames() {
    Affinity affinity =
        new AffinityRules(Map.of("s0", List.of(name("elsewhere:27017"))))
            .apply(
                members(List.of(shard("s0", "s0/or1:27018")), List.of(mongos("or1:27017", 0))),
                Map.of(),
                Map.of(),
                router -> true,
                Affinity.EMPTY);

    assertThat(affinity.ofShard("s0"))
        .isEqualTo(new Affinity.Beside(List.of(name("elsewhere:27017")), Source.MAPPED));
  }

  @Test
  void ignoresMongosOfAnotherCluster() {
    Affinity affinity =
        rules.apply(
            members(
                List.of(shard("s0", "s0/or1:27018")),
                List.of(mongos("or1:27017", 0), mongos("or1:27117", 0))),
            Map.of(),
            Map.of(),
            router -> router.port() != 27017,
            Affinity.EMPTY);

    assertThat(affinity.besideShard("s0")).containsExactly(name("or1:27117"));
  }

  /** No host names match, so round trips decide. They are from the topology us-2014. */
  @Test
  void measuredRoundTripsFindMongosNearShard() {
    Affinity affinity =
        measured(
            Affinity.EMPTY,
            way("local", 0.1, 68.2),
            way("beside", 68, 0.3),
            way("elsewhere", 62, 22));

    assertThat(affinity.ofShard("s0"))
        .isEqualTo(new Affinity.Beside(List.of(name("beside:27017")), Source.MEASURED));
  }

  @Test
  void usesShortestPathWithoutNearMongos() {
    Affinity affinity = measured(Affinity.EMPTY, way("nl", 7, 24), way("fr", 10, 32));

    assertThat(affinity.ofShard("s0"))
        .isEqualTo(new Affinity.Beside(List.of(name("nl:27017")), Source.SHORTEST_WAY));
    assertThat(affinity.ofShard("s0").isBeside()).isFalse();
  }

  @Test
  void jitterDoesNotChangeChoice() {
    Affinity first = measured(Affinity.EMPTY, way("a", 60, 0.5), way("b", 60, 4));
    assertThat(first.besideShard("s0")).containsExactly(name("a:27017"));

    assertThat(measured(first, way("a", 60, 3.2), way("b", 60, 0.5)).besideShard("s0"))
        .containsExactly(name("a:27017"));
    assertThat(measured(first, way("a", 60, 30), way("b", 60, 0.5)).besideShard("s0"))
        .containsExactly(name("b:27017"));
  }

  @Test
  void limitsMeasuredMongosesPerShard() {
    Affinity affinity =
        measured(
            Affinity.EMPTY,
            Stream.of("a", "b", "c", "d", "e", "f")
                .map(name -> way(name, 0.3, 0.3))
                .toArray(Way[]::new));

    assertThat(affinity.besideShard("s0")).hasSize(3);
  }

  private record Way(String host, double toRouter, double toShard) {}

  private static Way way(String host, double toRouterMillis, double toShardMillis) {
    return new Way(host, toRouterMillis, toShardMillis);
  }

  private Affinity measured(Affinity previous, Way... ways) {
    Map<ServerAddressName, Distance> distances = new HashMap<>();
    for (Way way : ways) {
      distances.put(
          name(way.host() + ":27017"), new Distance(millis(way.toRouter()), millis(way.toShard())));
    }
    return rules.apply(
        members(
            List.of(shard("s0", "s0/10.0.0.1:27018")),
            Stream.of(ways).map(way -> mongos(way.host() + ":27017", 0)).toList()),
        Map.of(),
        Map.of("s0", distances),
        router -> true,
        previous);
  }

  private Affinity choose(List<BsonDocument> shards, List<BsonDocument> mongoses) {
    return rules.apply(
        members(shards, mongoses), Map.of(), Map.of(), router -> true, Affinity.EMPTY);
  }

  private static ClusterMembers members(List<BsonDocument> shards, List<BsonDocument> mongoses) {
    return ClusterMembers.of(shards, mongoses, UnaryOperator.identity());
  }

  private static Duration millis(double millis) {
    return Duration.ofNanos((long) (millis * 1e6));
  }

  private static BsonDocument shard(String id, String host) {
    return new BsonDocument("_id", new BsonString(id)).append("host", new BsonString(host));
  }

  private static BsonDocument mongos(String id, long secondsAgo) {
    return new BsonDocument("_id", new BsonString(id))
        .append("ping", new BsonDateTime(NOW - secondsAgo * 1000));
  }

  private static ServerAddressName name(String text) {
    return ServerAddressName.parse(text);
  }
}
