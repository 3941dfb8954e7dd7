package dev.onehop.testbed.internal.binaries;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The programs of a cluster.
 *
 * @param mongod the server
 * @param mongos the router, or null if there is none on this machine
 */
public record ServerBinaries(Binary mongod, @Nullable Binary mongos) {
  /**
   * A program that runs on this machine.
   *
   * @param version the version that the program reports, for example {@code 6.0.5}
   * @param origin the place where it was found, for messages
   */
  public record Binary(Path path, String version, String origin) {
    /** The major and minor version, in the format of a feature compatibility version. */
    public String featureVersion() {
      String[] parts = version.split("\\.", -1);
      return parts[0] + "." + parts[1];
    }
  }

  /**
   * Returns the feature compatibility version that the programs require to work together. It is the
   * mongos' version if the mongos is older than the mongod. With a higher version, the mongos
   * refuses the cluster with IncompatibleWithUpgradedServer. Null if the programs require none.
   */
  public @Nullable String requiredFeatureCompatibilityVersion() {
    return mongos != null && compare(mongos.featureVersion(), mongod.featureVersion()) < 0
        ? mongos.featureVersion()
        : null;
  }

  private static int compare(String a, String b) {
    String[] left = a.split("\\.", -1);
    String[] right = b.split("\\.", -1);
    int major = Integer.compare(Integer.parseInt(left[0]), Integer.parseInt(right[0]));
    return major != 0
        ? major
        : Integer.compare(Integer.parseInt(left[1]), Integer.parseInt(right[1]));
  }
}
