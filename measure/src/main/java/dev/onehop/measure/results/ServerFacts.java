package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
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
 * @param mongod version of the {@code mongod}s
 * @param router the routers
 * @param featureCompatibilityVersion the cluster's, such as {@code 6.0}
 */
public record ServerFacts(String mongod, Router router, String featureCompatibilityVersion) {

  /** The version if servers behind a user's own mongos do not report it. */
  public static final String UNKNOWN = ExistingCluster.UNKNOWN;

  /** The servers of a cluster, whose routers' cost is not measured. */
  public static ServerFacts of(ServerInfo server) {
    return new ServerFacts(
        server.mongodVersion(),
        new Router(server.router().label(), server.routerVersion()),
        server.featureCompatibilityVersion());
  }

  /** The servers of a replica set. */
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

  /** The same servers with the routers' cost of an operation. */
  public ServerFacts withCost(RouterCost cost) {
    return new ServerFacts(
        mongod, new Router(router.kind(), router.version(), cost), featureCompatibilityVersion);
  }

  /**
   * The routers.
   *
   * @param kind {@code mongos}, {@code stand-in}, or {@link #NONE}
   * @param version the router's version
   * @param cost the cost of an operation for a stand-in; null for a mongos, or if it was not
   *     measured
   */
  public record Router(
      String kind, String version, @JsonInclude(Include.NON_NULL) @Nullable RouterCost cost) {

    /** The kind of a cluster without routers. */
    public static final String NONE = "none";

    /** Routers without a measured cost. */
    public Router(String kind, String version) {
      this(kind, version, null);
    }

    /** Whether the routers are the testbed's stand-in. */
    @JsonIgnore
    public boolean isStandIn() {
      return !kind.equals("mongos") && !kind.equals(NONE);
    }
  }
}
