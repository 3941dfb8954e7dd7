package dev.onehop.routing.internal.direct;

import dev.onehop.shards.request.ClusterFacts;
import dev.onehop.shards.request.RouterIdentity;
import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.util.Objects;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;

/**
 * The identity of direct mode's virtual mongos. It announces the version of the cluster's oldest
 * server.
 */
final class DirectIdentity implements RouterIdentity {
  // The oldest supported server; announced until the cluster has replied.
  private static final ClusterFacts UNKNOWN = new ClusterFacts(false, "4.4.0", 9);

  private final long startedNanos = System.nanoTime();
  private final DirectRouter router;

  DirectIdentity(DirectRouter router) {
    this.router = router;
  }

  private ClusterFacts facts() {
    return Objects.requireNonNullElse(router.facts(), UNKNOWN);
  }

  @Override
  public ServerAddressName advertised() {
    return new ServerAddressName("onehop-direct", 27017);
  }

  @Override
  public String serverVersion() {
    return facts().serverVersion();
  }

  @Override
  public int maxWireVersion() {
    return facts().maxWireVersion();
  }

  @Override
  public Duration uptime() {
    return Duration.ofNanos(System.nanoTime() - startedNanos);
  }

  @Override
  public BsonDocument marks() {
    return new BsonDocument("onehopDirect", BsonBoolean.TRUE);
  }
}
