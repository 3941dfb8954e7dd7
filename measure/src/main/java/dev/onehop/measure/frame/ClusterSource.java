package dev.onehop.measure.frame;

import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.testbed.Testbed;
import java.util.function.Function;

/** Where a bench gets its cluster from. Used once. */
public final class ClusterSource {

  private static final String STAND_IN =
      "note: no mongos binary was found; STAND-IN routers take their places (--mongos PATH gives"
          + " a real one)";

  private final Function<Progress, BenchCluster> open;

  private ClusterSource(Function<Progress, BenchCluster> open) {
    this.open = open;
  }

  /**
   * A testbed that is started for the bench, or on servers that run already.
   *
   * @param builder its progress listener still free
   * @param access how applications are let in, given the URL for those that everybody lets in
   */
  public static ClusterSource testbed(
      Testbed.Builder builder, Function<ClusterUrl, ClusterUrl> access) {
    return new ClusterSource(
        progress -> {
          progress.phase("starting servers");
          Testbed testbed = start(builder, progress);
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

  private static Testbed start(Testbed.Builder builder, Progress progress) {
    try {
      return builder.progress(line -> progress.phase("starting servers: " + line)).start();
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  /** Whether this user has started that cluster by a testbed that runs on this machine. */
  public static boolean isOwn(ClusterUrl url) {
    return UrlCluster.own(url).isPresent();
  }

  /**
   * A cluster that is there.
   *
   * @param overwrite whether documents that are in the bench's collection may be deleted
   */
  public static ClusterSource at(ClusterUrl url, boolean overwrite) {
    return new ClusterSource(
        progress -> {
          progress.phase("measuring round trips to " + url);
          return UrlCluster.of(url, overwrite);
        });
  }

  public BenchCluster open(Progress progress) {
    return open.apply(progress);
  }
}
