package dev.onehop.copy.internal.cluster;

import dev.onehop.copy.progress.CopyException;
import dev.onehop.shards.cluster.Privileges;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.message.CommandFailure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * The privileges that a copy needs and that its users lack. They are collected from the replies to
 * {@code connectionStatus} of both clusters and of each shard of the source. One message lists all
 * of them before the copy writes.
 */
public final class Rights {
  private final List<String> lacking = new ArrayList<>();

  /** Creates an object without missing privileges. */
  public Rights() {}

  /** Checks the privileges that are needed to read the source. */
  public void ofSource(ClusterEnd source, Collection<String> databases)
      throws InterruptedException {
    Privileges user = Privileges.of(source.run("admin", Privileges.command()));
    String place = "the source";
    for (String database : databases) {
      check(user, place, database, "", "find", "listCollections", "listIndexes");
    }
    if (!source.isSharded()) {
      ofShard(place, user, databases);
      return;
    }
    for (String metadata : List.of("shards", "databases", "collections", "chunks", "tags")) {
      check(user, place, "config", metadata, "find");
    }
    for (Map.Entry<String, ReplicaSet> shard : source.shards().entrySet()) {
      String there = "the source's shard " + shard.getKey();
      try {
        ofShard(
            there,
            Privileges.of(Waits.one(source.send(shard.getValue(), "admin", Privileges.command()))),
            databases);
      } catch (CommandFailure unreachable) {
        throw new CopyException(
            there + " can't be used: " + Waits.reason(unreachable), unreachable);
      } catch (RuntimeException refused) {
        if (Waits.isPassing(refused)) {
          throw new CopyException(there + " can't be reached: " + Waits.reason(refused), refused);
        }
        lacking.add("the user itself at " + there + " (" + Waits.reason(refused) + ")");
      }
    }
  }

  private void ofShard(String place, Privileges user, Collection<String> databases) {
    for (String database : databases) {
      check(user, place, database, "", "find", "collStats", "changeStream");
    }
  }

  /**
   * Checks the privileges that are needed to write to the destination.
   *
   * @param state the database of the job's state
   */
  public void ofDestination(ClusterEnd destination, Collection<String> databases, String state)
      throws InterruptedException {
    Privileges user = Privileges.of(destination.run("admin", Privileges.command()));
    String place = "the destination";
    for (String database : databases) {
      check(
          user,
          place,
          database,
          "",
          "find",
          "insert",
          "update",
          "remove",
          "createCollection",
          "createIndex",
          "collMod",
          "dropCollection",
          "bypassDocumentValidation");
      if (destination.isSharded()) {
        check(user, place, database, "", "enableSharding", "splitChunk", "moveChunk");
      }
    }
    check(user, place, state, "", "find", "insert", "update", "remove", "createCollection");
  }

  /**
   * @param collection empty for all collections
   */
  private void check(
      Privileges user, String place, String database, String collection, String... actions) {
    List<String> missing = user.missing(database, collection, actions);
    if (!missing.isEmpty()) {
      lacking.add(
          String.join(", ", missing)
              + " on "
              + database
              + (collection.isEmpty() ? "" : "." + collection)
              + " at "
              + place);
    }
  }

  /**
   * Reports the missing privileges.
   *
   * @throws CopyException if a privilege is missing
   */
  public void check() {
    if (!lacking.isEmpty()) {
      throw new CopyException("the copy needs " + String.join("; ", lacking), null);
    }
  }
}
