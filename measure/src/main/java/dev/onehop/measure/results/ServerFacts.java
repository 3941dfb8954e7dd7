package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import dev.onehop.testbed.ExistingCluster;
import dev.onehop.testbed.ServerInfo;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The servers of a run.
 *
 * @param mongod the version of config servers and shards
 * @param router the routers
 * @param featureCompatibilityVersion the feature compatibility version of the cluster, such as
 *     {@code 6.0}
 */
public record ServerFacts(String mongod, Router router, String featureCompatibilityVersion) {

  /**
   * The text in place of a version that the run cannot read, because the servers are behind a
   * user's own mongos.
   */
  public static final String UNKNOWN = ExistingCluster.UNKNOWN;

  /** Creates the facts of a cluster's servers. The cost of the routers is not measured. */
  public static ServerFacts of(ServerInfo server) {
    return new ServerFacts(
        server.mongodVersion(),
        new Router(server.router().label(), server.routerVersion()),
        server.featureCompatibilityVersion());
  }

  /** Creates the facts of a replica set's servers. */
  public static ServerFacts of(MongoClient set) {
    MongoDatabase admin = set.getDatabase("admin");
    Document compatibility =
        admin
            .runCommand(new Document("getParameter", 1).append("featureCompatibilityVersion", 1))
            .get("featureCompatibilityVersion", Document.class);
    return new ServerFacts(
        admin.runCommand(new Document("buildInfo", 1)).getString("version"),
        new Router(Router.NONE, ""),
        compatibility.getString("version"));
  }

  /** Returns the same servers, with the measured cost of the routers. */
  public ServerFacts withCost(RouterCost cost) {
    return new ServerFacts(
        mongod, new Router(router.kind(), router.version(), cost), featureCompatibilityVersion);
  }

  /**
   * The routers.
   *
   * @param kind {@code mongos}, {@code stand-in}, or {@link #NONE}
   * @param version the router's version
   * @param cost the processor time of a stand-in router per operation; null for a mongos, or if
   *     this time was not measured
   */
  public record Router(
      String kind, String version, @JsonInclude(Include.NON_NULL) @Nullable RouterCost cost) {

    /** The {@link #kind} in a cluster without routers. */
    public static final String NONE = "none";

    /** Creates routers without a measured cost. */
    public Router(String kind, String version) {
      this(kind, version, null);
    }

    /** Whether the routers are the testbed's stand-in routers. */
    public boolean isStandIn() {
      return !kind.equals("mongos") && !kind.equals(NONE);
    }
  }
}
