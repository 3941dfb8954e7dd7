package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Prints the results of a run as text in the midst of other output. The log of a container that has
 * ended therefore contains the results. The text is a ZIP file of results.json, the summaries and
 * the HdrHistogram logs, in base 64 between two marker lines.
 */
public final class ResultsArchive {
  private static final String BEGIN = "-----BEGIN ONEHOP RESULTS-----";
  private static final String END = "-----END ONEHOP RESULTS-----";

  /** The largest number of bytes to unpack. The results of a client are always smaller. */
  private static final long MOST_BYTES = 256L << 20;

  private ResultsArchive() {}

  /**
   * Returns the results in a folder as text, which ends in a newline.
   *
   * @throws Failure if the results can't be read
   */
  public static String pack(Path folder) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Stream<Path> files = Files.walk(folder);
        ZipOutputStream zip = new ZipOutputStream(bytes)) {
      List<Path> kept = files.filter(ResultsArchive::isKept).sorted().toList();
      for (Path file : kept) {
        zip.putNextEntry(new ZipEntry(folder.relativize(file).toString()));
        Files.copy(file, zip);
        zip.closeEntry();
      }
    } catch (IOException e) {
      throw Failure.run("cannot read " + folder + ": " + Failure.reason(e), e);
    }
    byte[] newline = {'\n'};
    String encoded = Base64.getMimeEncoder(76, newline).encodeToString(bytes.toByteArray());
    return String.join("\n", BEGIN, encoded, END, "");
  }

  private static boolean isKept(Path file) {
    String name = String.valueOf(file.getFileName());
    return Files.isRegularFile(file) && (name.endsWith(".json") || name.endsWith(".hdr"));
  }

  /**
   * Writes the results that a text contains into a folder.
   *
   * @return whether the text contains results
   * @throws Failure if the results are damaged or can't be written
   */
  public static boolean unpack(String text, Path folder) {
    int begin = text.lastIndexOf(BEGIN);
    int end = text.indexOf(END, Math.max(0, begin));
    if (begin < 0 || end < 0) {
      return false;
    }
    String encoded = text.substring(begin + BEGIN.length(), end);
    Path root = folder.toAbsolutePath().normalize();
    try (ZipInputStream zip =
        new ZipInputStream(
            new ByteArrayInputStream(Base64.getMimeDecoder().decode(encoded)),
            StandardCharsets.UTF_8)) {
      long left = MOST_BYTES;
      int files = 0;
      ZipEntry entry;
      while ((entry = zip.getNextEntry()) != null) {
        Path file = root.resolve(entry.getName()).normalize();
        byte[] content = zip.readNBytes((int) Math.min(Integer.MAX_VALUE - 8, left + 1));
        left -= content.length;
        if (!file.startsWith(root) || file.equals(root) || left < 0) {
          throw Failure.run(
              "the archive has a file that is not a result of a client: " + entry.getName(), null);
        }
        Files.createDirectories(file.getParent());
        Files.write(file, content);
        files++;
      }
      if (files == 0) {
        throw Failure.run("the results are damaged: they contain no files", null);
      }
    } catch (IOException | IllegalArgumentException e) {
      throw Failure.run("the results are damaged: " + Failure.firstLine(e), e);
    }
    return true;
  }
}
