package dev.onehop.resync;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A copy of a data folder into one or several other folders. Where the file system can share blocks
 * between files (reflink), nothing is read. Otherwise each file is read once, and its checksum is
 * recorded.
 */
final class FolderCopy {

  private static final int BLOCK = 1 << 20;
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(BLOCK).asReadOnlyBuffer();
  private static final double MEBIBYTE = 1 << 20;

  /** The number of files in one {@code cp} command, because command lines have a limited length. */
  private static final int FILES_AT_ONCE = 500;

  private final DataFolder source;
  private final List<Path> targets;
  private final @Nullable Double limit;
  private final LongConsumer progress;
  private final Map<Path, Long> checksums = new LinkedHashMap<>();
  private final ByteBuffer block = ByteBuffer.allocateDirect(BLOCK);
  private List<Path> files = List.of();
  private long read;
  private long written;
  private boolean shared;

  /**
   * @param targets the folders to copy to, which are empty
   * @param limit the largest rate of reading, in mebibytes per second; null for no limit
   * @param progress receives the number of bytes read so far
   */
  FolderCopy(DataFolder source, List<Path> targets, @Nullable Double limit, LongConsumer progress) {
    this.source = source;
    this.targets = List.copyOf(targets);
    this.limit = limit;
    this.progress = progress;
  }

  /** Copies all files that the source folder contains now. */
  void copy() throws IOException, InterruptedException {
    files = List.copyOf(source.files().keySet());
    for (Path target : targets) {
      for (Path file : files) {
        Files.createDirectories(target.resolve(file).getParent());
      }
    }
    shared = share();
    if (!shared) {
      long begun = System.nanoTime();
      for (Path file : files) {
        checksums.put(file, copy(file, begun));
      }
    }
  }

  /** Whether the copies share the source's blocks. */
  boolean isShared() {
    return shared;
  }

  /** The number of bytes written into each target, without blocks of zeros. */
  long written() {
    return written;
  }

  private boolean share() throws IOException, InterruptedException {
    for (Path target : targets) {
      for (int from = 0; from < files.size(); from += FILES_AT_ONCE) {
        if (!share(files.subList(from, Math.min(from + FILES_AT_ONCE, files.size())), target)) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean share(List<Path> some, Path target) throws IOException, InterruptedException {
    String to = target.toAbsolutePath().toString();
    List<String> command =
        new ArrayList<>(List.of("cp", "--reflink=always", "--parents", "-t", to, "--"));
    some.forEach(file -> command.add(file.toString()));
    Process copy =
        new ProcessBuilder(command)
            .directory(source.path().toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      return copy.waitFor() == 0;
    } finally {
      copy.destroyForcibly();
    }
  }

  private long copy(Path file, long begun) throws IOException, InterruptedException {
    CRC32C checksum = new CRC32C();
    List<FileChannel> outs = new ArrayList<>();
    try (FileChannel in = FileChannel.open(source.path().resolve(file))) {
      for (Path target : targets) {
        outs.add(
            FileChannel.open(
                target.resolve(file),
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE));
      }
      long at = 0;
      while (fill(in)) {
        int size = block.remaining();
        checksum.update(block.duplicate());
        if (!isZero(block)) {
          for (FileChannel out : outs) {
            write(out, block.duplicate(), at);
          }
          written += size;
        }
        at += size;
        read += size;
        progress.accept(read);
        hold(begun);
      }
      for (FileChannel out : outs) {
        if (out.size() < at) {
          write(out, ByteBuffer.allocate(1), at - 1);
        }
      }
    } finally {
      for (FileChannel out : outs) {
        out.close();
      }
    }
    return checksum.getValue();
  }

  private boolean fill(FileChannel in) throws IOException {
    block.clear();
    int n = 0;
    while (n >= 0 && block.hasRemaining()) {
      n = in.read(block);
    }
    block.flip();
    return block.hasRemaining();
  }

  private static void write(FileChannel out, ByteBuffer bytes, long at) throws IOException {
    long position = at;
    while (bytes.hasRemaining()) {
      position += out.write(bytes, position);
    }
  }

  /**
   * Whether a block is all zeros. Such a block is not written. A server creates a journal file in
   * its full size, so most of the file can be zeros.
   */
  private static boolean isZero(ByteBuffer bytes) {
    return bytes.mismatch(ZEROS.slice(0, bytes.remaining())) < 0;
  }

  private void hold(long begun) throws InterruptedException {
    if (limit != null) {
      long due = (long) (read / (limit * MEBIBYTE) * 1e9);
      long early = due - (System.nanoTime() - begun);
      if (early > 0) {
        Thread.sleep(early / 1_000_000, (int) (early % 1_000_000));
      }
    }
    Interruption.check();
  }

  /**
   * Flushes the copies to disk and compares their checksums with the checksums of the source, which
   * were recorded during the copy. The source may therefore already be in use again.
   *
   * @throws Failure if a checksum differs
   */
  void verify() throws IOException, InterruptedException {
    for (Path target : targets) {
      for (Path file : files) {
        Path copy = target.resolve(file);
        try (FileChannel channel =
            FileChannel.open(copy, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          channel.force(true);
          if (!shared && checksum(channel) != checksums.getOrDefault(file, -1L)) {
            throw Failure.run(copy + " differs from the source");
          }
        }
      }
    }
  }

  private long checksum(FileChannel channel) throws IOException, InterruptedException {
    CRC32C checksum = new CRC32C();
    while (fill(channel)) {
      checksum.update(block.duplicate());
      Interruption.check();
    }
    return checksum.getValue();
  }
}
