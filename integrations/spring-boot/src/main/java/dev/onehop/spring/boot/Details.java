package dev.onehop.spring.boot;

import com.mongodb.ServerAddress;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.routing.observation.RouterStatus;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The router's status and explanations as maps of strings, numbers and lists, which any JSON mapper
 * can write.
 */
final class Details {
  private Details() {}

  /** Returns the mode, whether new operations are routed, and the cluster. */
  static Map<String, Object> summary(RouterStatus status) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("mode", status.mode());
    details.put("routing", status.isRouting());
    if (status.clusterId() != null) {
      details.put("cluster", status.clusterId());
    }
    return details;
  }

  /** Returns the complete status. */
  static Map<String, Object> of(RouterStatus status) {
    Map<String, Object> details = summary(status);
    Map<String, Object> shards = new LinkedHashMap<>();
    status.shards().forEach((shard, servers) -> shards.put(shard, names(servers)));
    Map<String, Object> tables = new LinkedHashMap<>();
    status.tables().forEach((namespace, age) -> tables.put(namespace, text(age)));
    details.put("shards", shards);
    details.put("tableAges", tables);
    details.put("missing", status.missing());
    return details;
  }

  static Map<String, Object> of(RouteExplanation explanation) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("namespace", explanation.namespace());
    details.put("decision", explanation.decision().tag());
    details.put("shards", explanation.shards());
    details.put("servers", names(explanation.routers()));
    details.put("reason", explanation.reason());
    if (explanation.tableAge() != null) {
      details.put("tableAge", text(explanation.tableAge()));
    }
    return details;
  }

  private static String text(Duration age) {
    return age.truncatedTo(ChronoUnit.MILLIS).toString();
  }

  private static List<String> names(List<ServerAddress> servers) {
    return servers.stream().map(ServerAddress::toString).toList();
  }
}
