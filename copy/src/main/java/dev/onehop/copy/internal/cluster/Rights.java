package dev.onehop.copy.internal.cluster;

import dev.onehop.copy.progress.CopyException;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.message.CommandFailure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The privileges that a copy needs and its users lack. They come from {@code connectionStatus} of
 * both clusters and of each shard of the source. One message names them all before the copy writes.
 */
public final class Rights {
  private final List<String> lacking = new ArrayList<>();

  /** Begins without missing privileges. */
  public Rights() {}

  /** Checks the privileges to read the source. */
  public void ofSource(ClusterEnd source, Collection<String> databases)
      throws InterruptedException {
    BsonDocument status = source.run("admin", connectionStatus());
    String place = "the source";
    for (String database : databases) {
      check(status, place, database, "", "find", "listCollections", "listIndexes");
    }
    if (!source.isSharded()) {
      ofShard(place, status, databases);
      return;
    }
    for (String metadata : List.of("shards", "databases", "collections", "chunks", "tags")) {
      check(status, place, "config", metadata, "find");
    }
    for (Map.Entry<String, ReplicaSet> shard : source.shards().entrySet()) {
      String there = "the source's shard " + shard.getKey();
      try {
        ofShard(
            there,
            Waits.one(source.send(shard.getValue(), "admin", connectionStatus())),
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

  private void ofShard(String place, BsonDocument status, Collection<String> databases) {
    for (String database : databases) {
      check(status, place, database, "", "find", "collStats", "changeStream");
    }
  }

  /**
   * Checks the privileges to write the destination.
   *
   * @param state the database of the job's state
   */
  public void ofDestination(ClusterEnd destination, Collection<String> databases, String state)
      throws InterruptedException {
    BsonDocument status = destination.run("admin", connectionStatus());
    String place = "the destination";
    for (String database : databases) {
      check(
          status,
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
        check(status, place, database, "", "enableSharding", "splitChunk", "moveChunk");
      }
    }
    check(status, place, state, "", "find", "insert", "update", "remove", "createCollection");
  }

  private static BsonDocument connectionStatus() {
    return new BsonDocument("connectionStatus", new BsonInt32(1))
        .append("showPrivileges", BsonBoolean.TRUE);
  }

  /**
   * @param collection empty for all collections
   */
  private void check(
      BsonDocument status, String place, String database, String collection, String... actions) {
    BsonDocument auth = status.getDocument("authInfo", new BsonDocument());
    if (auth.getArray("authenticatedUsers", new BsonArray()).isEmpty()) {
      // Without access control every command is allowed; with it, the first command is refused.
      return;
    }
    Set<String> granted = new HashSet<>();
    for (BsonValue each : auth.getArray("authenticatedUserPrivileges", new BsonArray())) {
      BsonDocument privilege = each.asDocument();
      BsonDocument resource = privilege.getDocument("resource");
      if (resource.containsKey("anyResource")
          || (covers(resource.get("db"), database)
              && covers(resource.get("collection"), collection))) {
        privilege.getArray("actions").forEach(action -> granted.add(action.asString().getValue()));
      }
    }
    List<String> missing = new ArrayList<>(List.of(actions));
    missing.removeAll(granted);
    if (!missing.isEmpty() && !granted.contains("anyAction")) {
      lacking.add(
          String.join(", ", missing)
              + " on "
              + database
              + (collection.isEmpty() ? "" : "." + collection)
              + " at "
              + place);
    }
  }

  private static boolean covers(@Nullable BsonValue granted, String name) {
    return granted instanceof BsonString known
        && (known.getValue().isEmpty() || known.getValue().equals(name));
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
