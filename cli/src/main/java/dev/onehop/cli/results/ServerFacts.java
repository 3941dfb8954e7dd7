package dev.onehop.cli.results;

import com.fasterxml.jackson.annotation.JsonIgnore;

/**
 * The servers of a run.
 *
 * @param mongod version of the {@code mongod}s
 * @param router what stood in the mongos' places
 * @param featureCompatibilityVersion the cluster's, such as {@code 6.0}
 */
public record ServerFacts(String mongod, Router router, String featureCompatibilityVersion) {

  /**
   * The routers.
   *
   * @param kind {@code mongos} or {@code stand-in}
   * @param version the router's version
   */
  public record Router(String kind, String version) {
    /** Whether the testbed's stand-in took the place of a real mongos. */
    @JsonIgnore
    public boolean isStandIn() {
      return !kind.equals("mongos");
    }
  }
}
