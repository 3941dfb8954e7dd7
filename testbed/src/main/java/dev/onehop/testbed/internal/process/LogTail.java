package dev.onehop.testbed.internal.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInvalidOperationException;
import org.bson.BsonValue;
import org.bson.json.JsonParseException;

/** The end of a log, with the servers' JSON lines made readable. */
public final class LogTail {
  private static final int BYTES = 64 * 1024;
  private static final int LONGEST_LINE = 400;

  private LogTail() {}

  /** The last lines of a log, oldest first; fewer, or none, if there are no more. */
  public static List<String> of(Path log, int lines) {
    List<String> tail = new ArrayList<>();
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      long from = Math.max(0, file.length() - BYTES);
      file.seek(from);
      byte[] bytes = new byte[(int) (file.length() - from)];
      file.readFully(bytes);
      for (String line : new String(bytes, StandardCharsets.UTF_8).split("\n", -1)) {
        if (!line.isBlank()) {
          tail.add(readable(line));
        }
      }
    } catch (IOException e) {
      return List.of();
    }
    return List.copyOf(tail.subList(Math.max(0, tail.size() - lines), tail.size()));
  }

  /** One line as a person would want it: severity, component, message, attributes. */
  static String readable(String line) {
    String text = line;
    if (line.startsWith("{\"t\":")) {
      try {
        BsonDocument entry = BsonDocument.parse(line);
        BsonValue attributes = entry.get("attr", new BsonDocument());
        text =
            entry.getString("s").getValue()
                + " "
                + entry.getString("c").getValue()
                + " "
                + entry.getString("msg").getValue()
                + (attributes.asDocument().isEmpty() ? "" : " " + attributes.asDocument().toJson());
      } catch (JsonParseException | BsonInvalidOperationException e) {
        text = line;
      }
    }
    return text.length() > LONGEST_LINE ? text.substring(0, LONGEST_LINE) + "..." : text;
  }
}
