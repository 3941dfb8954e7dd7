package dev.onehop.copy.internal.cluster;

import com.mongodb.MongoCommandException;
import com.mongodb.client.model.Filters;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.shards.cluster.Compatibility;
import dev.onehop.shards.cluster.ReplicaSet;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks whether a cluster can be copied or verified. */
public final class EndCheck {
  private static final int WIRE_VERSION_6_0 = 17;
  private static final Logger log = LoggerFactory.getLogger(EndCheck.class);

  private EndCheck() {}

  /**
   * Checks that a cluster can be the source or the destination of a copy.
   *
   * @throws CopyException if the cluster can't be the source or the destination
   */
  public static void forCopy(ClusterEnd end) throws InterruptedException {
    if (!end.isSharded() && !end.hello().containsKey("setName")) {
      throw new CopyException(
          "the "
              + end.role()
              + " is a single server; a copy needs a replica set or a sharded cluster",
          null);
    }
    check(end);
  }

  /**
   * Checks the version of the servers.
   *
   * @throws CopyException if the servers are too old, or if the URL names a shard of a cluster
   */
  public static void check(ClusterEnd end) throws InterruptedException {
    Compatibility found =
        Waits.one(
            Compatibility.of(
                command -> ClusterQueries.admin(end.client(), command),
                // A refusal with any code counts as a missing right, because Atlas has another code
                // for it.
                failure -> failure instanceof MongoCommandException && !Waits.isPassing(failure)));
    if (!found.isKnown()) {
      throw new CopyException(found.refusal("the " + end.role()), null);
    }
    end.setTakesUuids(found.takesUuids());
    if (!end.isSharded() && isShard(end)) {
      throw new CopyException(
          ("the %s's URL names a shard of a cluster; a shard may have orphans, so name the cluster's"
                  + " mongoses")
              .formatted(end.role()),
          null);
    }
  }

  private static boolean isShard(ClusterEnd end) throws InterruptedException {
    try {
      return Waits.first(
              end.collection("admin.system.version").find(Filters.eq("shardIdentity")).first())
          != null;
    } catch (MongoCommandException refused) {
      log.debug("the {} does not report whether it is a shard", end.role(), refused);
      return false;
    }
  }

  /** Whether the change streams of a cluster report created collections and indexes. */
  public static boolean tellsCreations(ClusterEnd end) throws InterruptedException {
    for (ReplicaSet shard : end.shards().values()) {
      BsonDocument its = end.one(() -> shard.run("admin", ClusterEnd.command("hello")));
      if (its.getNumber("maxWireVersion", new BsonInt32(0)).intValue() < WIRE_VERSION_6_0) {
        return false;
      }
    }
    return true;
  }
}
