package dev.onehop.shards.cluster;

import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import reactor.core.publisher.Mono;

/**
 * The feature compatibility version of a cluster, or the server version in its place.
 *
 * @param kind {@code feature compatibility version} or {@code server version}
 * @param version the version, for example {@code 5.0}; a server version also has a patch level
 */
public record Compatibility(String kind, String version) {
  private static final int LEAST = 5;
  private static final int WITH_UUIDS = 6;

  /**
   * Reads the feature compatibility version. If the user lacks the right to read it, reads the
   * server version instead.
   *
   * @param admin runs a command on the database {@code admin} of mongoses or a replica set
   * @param refusal whether a failure means that the user lacks the right to read the feature
   *     compatibility version
   */
  public static Mono<Compatibility> of(
      Function<BsonDocument, Mono<? extends BsonDocument>> admin, Predicate<Throwable> refusal) {
    BsonDocument find =
        new BsonDocument("find", new BsonString("system.version"))
            .append(
                "filter", new BsonDocument("_id", new BsonString("featureCompatibilityVersion")))
            .append("limit", new BsonInt32(1))
            .append("singleBatch", BsonBoolean.TRUE);
    return admin
        .apply(find)
        .flatMapIterable(Compatibility::found)
        .next()
        .map(found -> of("feature compatibility version", found.asDocument()))
        .onErrorResume(refusal, refused -> Mono.empty())
        .switchIfEmpty(
            Mono.defer(() -> admin.apply(new BsonDocument("buildInfo", new BsonInt32(1))))
                .map(found -> of("server version", found)));
  }

  private static List<BsonValue> found(BsonDocument reply) {
    return reply.getDocument("cursor", new BsonDocument()).getArray("firstBatch", new BsonArray());
  }

  private static Compatibility of(String kind, BsonDocument found) {
    return new Compatibility(kind, found.getString("version", new BsonString("")).getValue());
  }

  /** Whether streams, copies and verifications support this version. */
  public boolean isKnown() {
    return major() >= LEAST;
  }

  /**
   * The message for a version that is not supported.
   *
   * @param what the cluster with this version, as the subject of the message
   */
  public String refusal(String what) {
    return "%s has the %s %s, and %d.0 or later is needed".formatted(what, kind, version, LEAST);
  }

  /** Whether servers accept the UUID of a collection in a command. */
  public boolean takesUuids() {
    return major() >= WITH_UUIDS;
  }

  private int major() {
    return version.isEmpty()
        ? Integer.MAX_VALUE
        : Integer.parseInt(version.replaceFirst("\\..*", ""));
  }
}
