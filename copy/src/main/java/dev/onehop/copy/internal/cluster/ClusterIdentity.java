package dev.onehop.copy.internal.cluster;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** The identity of a cluster. Jobs and state files store it in different forms. */
public final class ClusterIdentity {
  private ClusterIdentity() {}

  /** The identity in jobs: the id of a sharded cluster, or the addresses of the members. */
  public static Set<String> ofJob(ClusterEnd end) throws InterruptedException {
    Set<String> identity = new TreeSet<>();
    if (end.isSharded()) {
      end.metadata("version", new BsonDocument())
          .forEach(version -> identity.add(String.valueOf(version.get("clusterId"))));
      return identity;
    }
    for (String members : List.of("hosts", "passives", "arbiters")) {
      for (BsonValue host : end.hello().getArray(members, new BsonArray())) {
        identity.add(
            end.hello().getString("setName").getValue() + "/" + host.asString().getValue());
      }
    }
    return identity;
  }

  /** The identity in words, as in the state files of verifications. */
  public static String inWords(ClusterEnd end) throws InterruptedException {
    if (end.isSharded()) {
      return "cluster "
          + end.metadata("version", new BsonDocument())
              .get(0)
              .getObjectId("clusterId")
              .getValue()
              .toHexString();
    }
    BsonDocument hello = end.hello();
    if (!hello.containsKey("setName")) {
      // The only identity of a server without a replica set is the id of its process.
      return "server "
          + hello.getDocument("topologyVersion").getObjectId("processId").getValue().toHexString();
    }
    TreeSet<String> members = new TreeSet<>();
    for (BsonValue host : hello.getArray("hosts")) {
      members.add(host.asString().getValue());
    }
    return "replica set " + hello.getString("setName").getValue() + members;
  }
}
