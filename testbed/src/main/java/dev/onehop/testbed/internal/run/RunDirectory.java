package dev.onehop.testbed.internal.run;

import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.internal.process.ProcFs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The directory of one run of one topology: data, logs and state. The process of the run has a lock
 * on a file. The kernel releases the lock when the process ends for any reason. The next process
 * that gets the lock may therefore remove the content of the earlier run.
 */
public final class RunDirectory implements AutoCloseable {
  private final Path path;
  private final FileChannel lockFile;
  private final FileLock lock;

  private RunDirectory(Path path, FileChannel lockFile, FileLock lock) {
    this.path = path;
    this.lockFile = lockFile;
    this.lock = lock;
  }

  /** The folder of runs in a cache folder. */
  public static Path root(Path cacheFolder) {
    return cacheFolder.resolve("run");
  }

  /**
   * Claims a topology's directory and removes the remains of a killed run: its processes, then its
   * files.
   *
   * @param root the folder of runs, as {@link #root} returns it
   * @param found receives the name of every leftover process that was ended
   * @throws TestbedException if another process runs this topology
   */
  public static RunDirectory claim(
      Path root, String topology, java.util.function.Consumer<String> found) {
    Path path = root.resolve(topology);
    try {
      Files.createDirectories(root);
      FileChannel lockFile =
          FileChannel.open(
              root.resolve("." + topology + ".lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE);
      @Nullable FileLock lock = tryLock(lockFile);
      if (lock == null) {
        lockFile.close();
        @Nullable RunState state = RunState.read(path);
        String owner = state == null ? "" : " in process " + state.owner().pid();
        throw new TestbedException(
            "topology %1$s is already running%2$s; stop it first (bin/onehop topology down %1$s)"
                .formatted(topology, owner));
      }
      endLeftovers(path).forEach(found);
      deleteTree(path);
      Files.createDirectories(path.resolve("logs"));
      Files.createDirectories(path.resolve("data"));
      return new RunDirectory(path, lockFile, lock);
    } catch (IOException e) {
      throw new TestbedException("cannot use " + path + ": " + e, e);
    }
  }

  private static @Nullable FileLock tryLock(FileChannel file) throws IOException {
    try {
      return file.tryLock();
    } catch (OverlappingFileLockException e) {
      return null; // this process has the lock
    }
  }

  /** Ends the servers of a run without owner. Returns their names. */
  static List<String> endLeftovers(Path path) {
    @Nullable RunState state = RunState.read(path);
    if (state == null) {
      return List.of();
    }
    List<String> ended = new ArrayList<>();
    for (RunState.Entry server : state.servers()) {
      if (isOurs(server, path)) {
        ProcessHandle.of(server.pid())
            .ifPresent(
                process -> {
                  process.destroyForcibly();
                  process.onExit().orTimeout(10, java.util.concurrent.TimeUnit.SECONDS).join();
                  ended.add(server.name() + " (process " + server.pid() + ")");
                });
      }
    }
    return ended;
  }

  /** Whether a process belongs to the run: its id, start time and command line must match. */
  private static boolean isOurs(RunState.Entry server, Path path) {
    return server.isAlive()
        && ProcFs.commandLine(server.pid()).stream()
            .anyMatch(argument -> argument.contains(path.toString()));
  }

  public Path path() {
    return path;
  }

  /** The folder of all servers' data. */
  public Path data() {
    return path.resolve("data");
  }

  /** The folder of a server's data. */
  public Path data(String server) {
    try {
      return Files.createDirectories(data().resolve(fileName(server)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The file of a server's log. */
  public Path log(String server) {
    return path.resolve("logs").resolve(fileName(server) + ".log");
  }

  /** The file of a server's output. */
  public Path output(String server) {
    return path.resolve("logs").resolve(fileName(server) + ".out");
  }

  private static String fileName(String server) {
    return server.replace('/', '-');
  }

  /** Deletes the directory and releases the lock. */
  @Override
  public void close() {
    try {
      deleteTree(path);
      lock.release();
      lockFile.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void deleteTree(Path path) throws IOException {
    // A server may still create a file while it ends. The next attempt deletes this file.
    for (int attempt = 0; Files.exists(path); attempt++) {
      try (Stream<Path> files = Files.walk(path)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      } catch (UncheckedIOException | java.nio.file.DirectoryNotEmptyException e) {
        if (attempt > 5) {
          throw new IOException("cannot delete " + path, e);
        }
      } catch (NoSuchFileException e) {
        return;
      }
    }
  }
}
