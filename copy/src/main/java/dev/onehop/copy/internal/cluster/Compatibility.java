package dev.onehop.copy.internal.cluster;

import com.mongodb.MongoCommandException;
import com.mongodb.ReadPreference;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import reactor.core.publisher.Mono;

/**
 * The feature compatibility version of a cluster.
 *
 * @param kind of the version, in words
 * @param version for example {@code 5.0}; a server version has a patch level, too
 */
record Compatibility(String kind, String version) {
  private static final int LEAST = 5;
  private static final int WITH_UUIDS = 6;

  /**
   * The feature compatibility version, or the version of the server if the user may not read it.
   *
   * @param client of the cluster's mongoses, or of a replica set
   */
  static Mono<Compatibility> of(MongoClient client) {
    return Mono.from(
            client
                .getDatabase("admin")
                .withReadPreference(ReadPreference.primary())
                .getCollection("system.version", BsonDocument.class)
                .find(Filters.eq("featureCompatibilityVersion"))
                .first())
        .map(
            found ->
                new Compatibility(
                    "feature compatibility version", found.getString("version").getValue()))
        .onErrorResume(
            // A missing right has another code on Atlas.
            failure -> failure instanceof MongoCommandException && !Waits.isPassing(failure),
            refused -> Mono.empty())
        .switchIfEmpty(
            Mono.from(
                    client
                        .getDatabase("admin")
                        .runCommand(
                            new BsonDocument("buildInfo", new BsonInt32(1)), BsonDocument.class))
                .map(
                    found ->
                        new Compatibility(
                            "server version", found.getString("version").getValue())));
  }

  /** Whether copies and verifications support it. */
  boolean isKnown() {
    return major() >= LEAST;
  }

  /**
   * The message for a version that is not supported.
   *
   * @param side the cluster with this version
   */
  String refusal(String side) {
    return "%s has the %s %s, and %d.0 or later is needed".formatted(side, kind, version, LEAST);
  }

  /** Whether servers accept the UUID of a collection in a command. */
  boolean takesUuids() {
    return major() >= WITH_UUIDS;
  }

  private int major() {
    return Integer.parseInt(version.substring(0, version.indexOf('.')));
  }
}
