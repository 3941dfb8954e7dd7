package dev.onehop.routing.targeted;

import dev.onehop.routing.OneHop;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import org.bson.BsonDocument;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** Clients of a scripted cluster. The mongos {@code m0} is near s0, and {@code m1} is near s1. */
final class Targeted {
  static final Duration TIMEOUT = Duration.ofSeconds(20);
  static final int WIRE_6_0 = 17;

  private Targeted() {}

  /** The URI of the mongos {@code m0}, for plain clients and for routed ones. */
  static String uri(ScriptedCluster cluster, String options) {
    return "mongodb://" + cluster.address("m0") + "/?" + options;
  }

  static OneHop.Builder builder(ScriptedCluster cluster, String options) {
    return builder(cluster, OneHop.builder(uri(cluster, options)));
  }

  static OneHop.Builder builder(ScriptedCluster cluster, OneHop.Builder builder) {
    return builder
        .shardRouters("s0", cluster.address("m0").toString())
        .shardRouters("s1", cluster.address("m1").toString());
  }

  /** Whether a command reads the cluster's metadata. */
  static boolean isInternal(BsonDocument command) {
    return command.getString("$db").getValue().equals("config");
  }

  static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
