package dev.onehop.testbed;

/**
 * What the cluster is made of.
 *
 * @param mongodVersion for example {@code 6.0.5}
 * @param featureCompatibilityVersion the cluster's, as the config server says; for example {@code
 *     6.0}
 * @param router what routes
 * @param routerVersion its version
 */
public record ServerInfo(
    String mongodVersion,
    String featureCompatibilityVersion,
    RouterKind router,
    String routerVersion) {

  /** What routes where no client does it itself. */
  public enum RouterKind {
    /** MongoDB's own. */
    MONGOS("mongos"),
    /** This testbed's own, for machines without a mongos. */
    STAND_IN("stand-in"),
    /** Nothing: the cluster was started without routers. */
    NONE("none");

    private final String label;

    RouterKind(String label) {
      this.label = label;
    }

    /** As it is shown and written to files. */
    public String label() {
      return label;
    }
  }
}
