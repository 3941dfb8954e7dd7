package dev.onehop.ycsb;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ServerDescription;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.selector.ServerSelector;
import java.util.Comparator;
import java.util.List;

/**
 * YCSB binding {@code near-mongos}: the official reactive driver with a server selector that
 * chooses the mongos with the shortest round trip. It shows the effect of a few lines of code,
 * which an application can write without OneHop.
 */
public final class NearMongosPeer extends MongoBinding {
  static final ServerSelector NEAREST =
      cluster ->
          cluster.getServerDescriptions().stream()
              .filter(ServerDescription::isOk)
              .min(Comparator.comparingLong(ServerDescription::getRoundTripTimeNanos))
              .map(List::of)
              .orElse(List.of());

  /** Called by YCSB, once per client thread. */
  public NearMongosPeer() {
    super("near-mongos");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    options.refusePipelining();
    MongoClientSettings settings =
        MongoClientSettings.builder(options.clientSettings())
            .applyToClusterSettings(cluster -> cluster.serverSelector(NEAREST))
            .build();
    return new ReactiveStore(MongoClients.create(settings), options.database(), RouteCounts.NONE);
  }
}
