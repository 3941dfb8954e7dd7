package dev.onehop.streams.internal.shard;

import dev.onehop.shards.cluster.Privileges;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The privileges that the user lacks for a stream of all shards. They are collected from the
 * replies to {@code connectionStatus} of all servers, so that one message lists all missing
 * privileges.
 *
 * <p>Thread-safe.
 */
final class Rights {
  private static final Logger log = LoggerFactory.getLogger(Rights.class);
  private static final List<String> METADATA =
      List.of("collections", "chunks", "databases", "shards");
  private static final String SCRIPT =
      "docker/stream-users.js creates a user with these privileges";

  private final StreamCommand command;
  private final List<String> needed = new ArrayList<>(); // guarded by this
  private final List<String> wanted = new ArrayList<>(); // guarded by this

  Rights(StreamCommand command) {
    this.command = command;
  }

  /**
   * Checks the user's privileges on the config servers.
   *
   * @param status the reply of the config servers or of a mongos to {@code connectionStatus}
   * @param lookups whether the documents of updates are looked up through the mongoses
   */
  synchronized void atConfigServers(BsonDocument status, boolean lookups) {
    String place = "the config servers";
    METADATA.forEach(name -> check(needed, place, status, "config", name, "find"));
    if (lookups) {
      watched(place, status, "find");
    }
    check(wanted, place, status, "config", "changelog", "find", "changeStream");
    onCluster(place, status, "appendOplogNote");
  }

  /** Checks the user's privileges on a shard. */
  synchronized void atShard(String shard, BsonDocument status) {
    String place = "shard " + shard;
    watched(place, status, "find", "changeStream");
    check(wanted, place, status, "local", "oplog.rs", "find");
    onCluster(place, status, "appendOplogNote", "getShardMap");
  }

  /** Records that a shard refuses the user's login. */
  synchronized void refused(String shard, Throwable why) {
    needed.add(
        "a user with this name and password at shard " + shard + " (" + why.getMessage() + ")");
  }

  private void watched(String place, BsonDocument status, String... actions) {
    String database = command.isOfCluster() ? "" : command.database();
    String collection = command.collection();
    check(needed, place, status, database, collection == null ? "" : collection, actions);
  }

  private void onCluster(String place, BsonDocument status, String... actions) {
    check(wanted, place, status, null, "", actions);
  }

  /**
   * @param database null for the cluster resource, empty for all databases
   * @param collection empty for all collections
   */
  private static void check(
      List<String> lacking,
      String place,
      BsonDocument status,
      @Nullable String database,
      String collection,
      String... actions) {
    List<String> missing = Privileges.of(status).missing(database, collection, actions);
    if (!missing.isEmpty()) {
      lacking.add(String.join(" and ", missing) + on(database, collection) + " at " + place);
    }
  }

  private static String on(@Nullable String database, String collection) {
    if (database == null) {
      return " on the cluster";
    }
    if (database.isEmpty()) {
      return " on all databases";
    }
    return " on " + database + (collection.isEmpty() ? "" : "." + collection);
  }

  /** Fails if required privileges are missing. */
  synchronized void check() {
    if (!needed.isEmpty()) {
      throw new CommandFailure(
          ErrorCodes.UNAUTHORIZED,
          "Unauthorized",
          "the change stream needs "
              + String.join("; ", needed)
              + (wanted.isEmpty() ? "" : "; optional: " + String.join("; ", wanted))
              + ". "
              + SCRIPT);
    }
  }

  /** Logs the missing optional privileges. */
  synchronized void say() {
    if (!wanted.isEmpty()) {
      log.warn(
          "the user lacks {}. Without appendOplogNote and getShardMap there are no heartbeats;"
              + " events then wait for majority reads, which take 100 ms or more in a replica set"
              + " with one member. Without find on local.oplog.rs the stream can't report which"
              + " events a shard has lost. Without rights on config.changelog the stream can't"
              + " report a removed shard. {}",
          String.join("; ", wanted),
          SCRIPT);
    }
  }
}
