package dev.onehop.routing.internal.targeted;

import com.mongodb.connection.ClusterType;
import dev.onehop.routing.internal.router.RouterIdentity;
import dev.onehop.routing.internal.wire.ServerAddressName;
import java.time.Duration;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;

/** The virtual mongos of targeted mode; speaks as the oldest of the mongoses does. */
final class TargetedIdentity implements RouterIdentity {
  private final long startedNanos = System.nanoTime();
  private final ServerAddressName advertised;
  private final Mongoses mongoses;

  TargetedIdentity(ServerAddressName advertised, Mongoses mongoses) {
    this.advertised = advertised;
    this.mongoses = mongoses;
  }

  @Override
  public ServerAddressName advertised() {
    return advertised;
  }

  /** Mongoses say it themselves. */
  @Override
  public String serverVersion() {
    return "";
  }

  @Override
  public int maxWireVersion() {
    return mongoses.maxWireVersion();
  }

  @Override
  public Duration uptime() {
    return Duration.ofNanos(System.nanoTime() - startedNanos);
  }

  @Override
  public boolean isMongos() {
    return mongoses.type() != ClusterType.STANDALONE;
  }

  @Override
  public BsonDocument marks() {
    return new BsonDocument("onehopTargeted", BsonBoolean.TRUE);
  }
}
