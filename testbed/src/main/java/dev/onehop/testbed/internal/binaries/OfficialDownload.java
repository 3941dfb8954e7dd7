package dev.onehop.testbed.internal.binaries;

import de.flapdoodle.embed.mongo.distribution.Version;
import de.flapdoodle.embed.mongo.transitions.Mongod;
import de.flapdoodle.embed.mongo.transitions.Mongos;
import de.flapdoodle.embed.mongo.types.DistributionBaseUrl;
import de.flapdoodle.embed.process.archives.ExtractedFileSet;
import de.flapdoodle.embed.process.io.directories.PersistentDir;
import de.flapdoodle.reverse.StateID;
import de.flapdoodle.reverse.TransitionWalker;
import de.flapdoodle.reverse.Transitions;
import de.flapdoodle.reverse.transitions.Start;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Downloads MongoDB's own archive, which contains mongod and mongos. Uses flapdoodle's embedded
 * MongoDB, which selects the archive for this system. Without an internet connection, a download
 * fails after some seconds, and it is not tried again for some hours.
 */
final class OfficialDownload {
  /**
   * The version that OneHop's tests use. Flapdoodle marks it as deprecated, because MongoDB no
   * longer supports it.
   */
  @SuppressWarnings("deprecation")
  private static final Version.Main VERSION = Version.Main.V6_0;

  private static final Duration REACHABLE_WITHIN = Duration.ofSeconds(3);
  private static final Duration REMEMBER = Duration.ofHours(6);

  private final Path cache;
  private final Path failed;

  /**
   * @param cache the folder of downloaded servers
   */
  OfficialDownload(Path cache) {
    this.cache = cache;
    this.failed = cache.resolve("official-archive-unavailable");
  }

  /** The folder of the binaries after a download. */
  Path folder() {
    return cache.resolve("official");
  }

  /**
   * Downloads mongod and mongos into {@link #folder}.
   *
   * @return null after success; one line with the reason after a failure
   */
  @Nullable String fetch(Consumer<String> progress) {
    @Nullable String earlier = earlierFailure();
    if (earlier != null) {
      return earlier;
    }
    Path work = null;
    try {
      Files.createDirectories(cache);
      String baseUrl = baseUrl();
      if (!isReachable(baseUrl)) {
        return remember(baseUrl + " cannot be reached");
      }
      progress.accept("downloading mongod and mongos from " + baseUrl + " (once)");
      work = Files.createTempDirectory(cache, ".official");
      Path binaries = Files.createDirectory(work.resolve("binaries"));
      Start<PersistentDir> home =
          Start.to(PersistentDir.class).initializedWith(PersistentDir.of(work));
      copy(Mongod.instance().withPersistentBaseDir(home).transitions(VERSION), binaries, "mongod");
      copy(Mongos.instance().withPersistentBaseDir(home).transitions(VERSION), binaries, "mongos");
      BinaryProbe.probe(binaries.resolve("mongod"), "MongoDB's archive");
      BinaryProbe.probe(binaries.resolve("mongos"), "MongoDB's archive");
      Files.move(binaries, folder(), StandardCopyOption.ATOMIC_MOVE);
      return null;
    } catch (IOException | RuntimeException e) {
      return remember("MongoDB's archive: " + rootMessage(e));
    } finally {
      FileTrees.delete(work);
    }
  }

  private static void copy(Transitions transitions, Path into, String name) throws IOException {
    try (TransitionWalker.ReachedState<ExtractedFileSet> extracted =
        transitions.walker().initState(StateID.of(ExtractedFileSet.class))) {
      Files.copy(
          extracted.current().executable(), into.resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
    }
  }

  private static String baseUrl() {
    try (TransitionWalker.ReachedState<DistributionBaseUrl> url =
        Mongod.instance()
            .transitions(VERSION)
            .walker()
            .initState(StateID.of(DistributionBaseUrl.class))) {
      return url.current().value();
    }
  }

  private static boolean isReachable(String baseUrl) {
    URI uri = URI.create(baseUrl);
    int port = uri.getPort() > 0 ? uri.getPort() : uri.getScheme().equals("http") ? 80 : 443;
    CompletableFuture<Boolean> connected =
        CompletableFuture.supplyAsync(
            () -> {
              try (Socket socket = new Socket()) {
                // This call also looks up the host name. The timeout of the connection does not
                // limit the time of the lookup, so the call runs on another thread.
                socket.connect(
                    new InetSocketAddress(uri.getHost(), port), (int) REACHABLE_WITHIN.toMillis());
                return true;
              } catch (IOException e) {
                return false;
              }
            });
    try {
      return connected.get(REACHABLE_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private @Nullable String earlierFailure() {
    try {
      Instant when = Files.getLastModifiedTime(failed).toInstant();
      return when.plus(REMEMBER).isAfter(Instant.now()) ? Files.readString(failed).strip() : null;
    } catch (IOException e) {
      return null;
    }
  }

  private String remember(String reason) {
    try {
      Files.writeString(failed, reason + "\n");
    } catch (IOException e) {
      // Nothing to do: without the file, the next start tries the download again.
    }
    return reason;
  }

  private static String rootMessage(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return String.valueOf(root.getMessage()).lines().findFirst().orElse(root.toString());
  }
}
