package dev.onehop.testbed.internal.binaries;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The programs a cluster is made of.
 *
 * @param mongod the server
 * @param mongos the router, or null if there is none on this machine
 */
public record ServerBinaries(Binary mongod, @Nullable Binary mongos) {
  /**
   * A program that has been seen to run.
   *
   * @param version as it says itself, for example {@code 6.0.5}
   * @param origin where it was found, for messages
   */
  public record Binary(Path path, String version, String origin) {
    /** Major and minor version, which is what a feature compatibility version looks like. */
    public String featureVersion() {
      String[] parts = version.split("\\.", -1);
      return parts[0] + "." + parts[1];
    }
  }

  /**
   * The feature compatibility version that lets these work together: that of a mongos older than
   * the mongod, which would otherwise refuse the cluster with IncompatibleWithUpgradedServer; null
   * if there is nothing to be set.
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
