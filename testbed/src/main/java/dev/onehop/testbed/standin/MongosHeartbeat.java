package dev.onehop.testbed.standin;

import dev.onehop.shards.request.ClusterFacts;
import dev.onehop.shards.request.RouterIdentity;
import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Writes the router's entry in {@code config.mongos} every ten seconds, as a mongos does. The entry
 * says that the router is a stand-in.
 */
final class MongosHeartbeat implements RouterIdentity {
  private static final Logger log = LoggerFactory.getLogger(MongosHeartbeat.class);
  private static final int WIRE_VERSION_6_0 = 17;
  private static final Duration INTERVAL = Duration.ofSeconds(10);

  private final MongosRouter router;
  private final ServerAddressName advertised;
  private final Instant started = Instant.now();
  private volatile String serverVersion = "";

  MongosHeartbeat(MongosRouter router, ServerAddressName advertised) {
    this.router = router;
    this.advertised = advertised;
  }

  @Override
  public ServerAddressName advertised() {
    return advertised;
  }

  @Override
  public int maxWireVersion() {
    ClusterFacts facts = router.facts();
    return facts == null ? WIRE_VERSION_6_0 : facts.maxWireVersion();
  }

  @Override
  public BsonDocument marks() {
    return new BsonDocument("onehopStandIn", BsonBoolean.TRUE);
  }

  /** The version of the cluster's servers, which the stand-in also reports as its own. */
  @Override
  public String serverVersion() {
    return serverVersion;
  }

  @Override
  public Duration uptime() {
    return Duration.between(started, Instant.now());
  }

  Mono<Void> announce() {
    return router
        .runOnConfigServer("admin", new BsonDocument("buildInfo", new BsonInt32(1)))
        .doOnNext(info -> serverVersion = info.getString("version").getValue())
        .then(Mono.defer(this::ping));
  }

  void keepAnnouncing() {
    Flux.interval(INTERVAL)
        .onBackpressureDrop()
        .concatMap(
            tick ->
                ping()
                    .doOnError(
                        e -> log.debug("config.mongos could not be updated: {}", e.toString()))
                    .onErrorComplete())
        .subscribe();
  }

  private Mono<Void> ping() {
    BsonString id = new BsonString(advertised.toString());
    BsonDocument entry =
        new BsonDocument("_id", id)
            .append("ping", new BsonDateTime(System.currentTimeMillis()))
            .append("up", new BsonInt64(uptime().toSeconds()))
            .append("waiting", BsonBoolean.TRUE)
            .append("mongoVersion", new BsonString(serverVersion))
            .append("advisoryHostFQDNs", new BsonArray())
            .append("onehopStandIn", BsonBoolean.TRUE);
    BsonDocument update =
        new BsonDocument("q", new BsonDocument("_id", id))
            .append("u", new BsonDocument("$set", entry))
            .append("upsert", BsonBoolean.TRUE);
    return router
        .runOnConfigServer(
            "config",
            new BsonDocument("update", new BsonString("mongos"))
                .append("updates", new BsonArray(List.of(update)))
                .append("writeConcern", new BsonDocument("w", new BsonString("majority"))))
        .then();
  }
}
