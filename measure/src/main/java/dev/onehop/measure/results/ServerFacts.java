package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import org.jspecify.annotations.Nullable;

/**
 * The servers of a run.
 *
 * @param mongod version of the {@code mongod}s
 * @param router what stood in the mongos' places
 * @param featureCompatibilityVersion the cluster's, such as {@code 6.0}
 */
public record ServerFacts(String mongod, Router router, String featureCompatibilityVersion) {

  /** The same servers with what an operation costs the routers. */
  public ServerFacts withCost(RouterCost cost) {
    return new ServerFacts(
        mongod, new Router(router.kind(), router.version(), cost), featureCompatibilityVersion);
  }

  /**
   * The routers.
   *
   * @param kind {@code mongos}, {@code stand-in}, or {@link #NONE}
   * @param version the router's version
   * @param cost what an operation costs a stand-in; null for a mongos, or if it was not looked at
   */
  public record Router(
      String kind, String version, @JsonInclude(Include.NON_NULL) @Nullable RouterCost cost) {

    /** The kind where there are no routers. */
    public static final String NONE = "none";

    /** Routers whose cost was not looked at. */
    public Router(String kind, String version) {
      this(kind, version, null);
    }

    /** Whether the testbed's stand-in took the place of a real mongos. */
    @JsonIgnore
    public boolean isStandIn() {
      return !kind.equals("mongos") && !kind.equals(NONE);
    }
  }
}
