package dev.onehop.testbed;

/**
 * The versions of the cluster's servers.
 *
 * @param mongodVersion the version of config servers and shards, such as {@code 6.0.5}
 * @param featureCompatibilityVersion the feature compatibility version that the config server
 *     reports, for example {@code 6.0}
 * @param router the kind of router
 * @param routerVersion the router's version
 */
public record ServerInfo(
    String mongodVersion,
    String featureCompatibilityVersion,
    RouterKind router,
    String routerVersion) {

  /** The kinds of router. */
  public enum RouterKind {
    /** MongoDB's mongos. */
    MONGOS("mongos"),
    /** This testbed's router, for machines without a mongos. */
    STAND_IN("stand-in"),
    /** The cluster was started without routers. */
    NONE("none");

    private final String label;

    RouterKind(String label) {
      this.label = label;
    }

    /** The name of this kind in output and files. */
    public String label() {
      return label;
    }
  }
}
