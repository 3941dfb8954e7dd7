package dev.onehop.measure.frame;

import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.testbed.Testbed;
import java.util.function.Function;

/** Provides the cluster of a bench, once. */
public record ClusterSource(boolean startsServers, Function<Progress, BenchCluster> open) {

  private static final String STAND_IN =
      "note: no mongos binary was found; STAND-IN routers run instead (set --mongos PATH for"
          + " a real mongos)";

  /**
   * Returns the source of a testbed's cluster.
   *
   * @param startsServers whether the testbed starts servers for the bench; false if it uses
   *     existing servers
   * @param builder the testbed's settings, without a progress listener
   * @param access adds an application's credentials to the URL
   */
  public static ClusterSource testbed(
      boolean startsServers, Testbed.Builder builder, Function<ClusterUrl, ClusterUrl> access) {
    return new ClusterSource(
        startsServers,
        progress -> {
          Testbed testbed =
              start(startsServers ? "starting servers" : "connecting", builder, progress);
          try {
            progress.phase("measuring round trips");
            TestbedCluster cluster = TestbedCluster.of(testbed, access);
            if (cluster.server().router().isStandIn()) {
              progress.note(STAND_IN);
            }
            return cluster;
          } catch (RuntimeException e) {
            testbed.close();
            throw e;
          }
        });
  }

  private static Testbed start(String phase, Testbed.Builder builder, Progress progress) {
    progress.phase(phase);
    try {
      return builder.progress(line -> progress.phase(phase + ": " + line)).start();
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  /** Whether the cluster is a testbed that this user runs on this machine. */
  public static boolean isOwn(ClusterUrl url) {
    return UrlCluster.own(url).isPresent();
  }

  /**
   * Returns the source of an existing cluster.
   *
   * @param overwrite whether documents in the bench's collection may be deleted
   */
  public static ClusterSource at(ClusterUrl url, boolean overwrite) {
    return new ClusterSource(
        false,
        progress -> {
          progress.phase("measuring round trips to " + url);
          return UrlCluster.of(url, overwrite);
        });
  }

  public BenchCluster open(Progress progress) {
    return open.apply(progress);
  }
}
