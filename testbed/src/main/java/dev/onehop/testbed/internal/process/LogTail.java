package dev.onehop.testbed.internal.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInvalidOperationException;
import org.bson.BsonValue;
import org.bson.json.JsonParseException;

/**
 * Reads the last lines of a log, with the servers' JSON lines in readable form. The many lines of
 * the profiler are left out, because they never contain the reason of a server's end.
 */
public final class LogTail {
  private static final int BYTES = 1024 * 1024;
  private static final int LONGEST_LINE = 400;

  /** The ids of the server's log lines "Slow query" and "Profiler settings changed". */
  private static final List<String> LEFT_OUT = List.of("\"id\":51803,", "\"id\":48742,");

  private LogTail() {}

  /** The last lines of a log, oldest first; fewer or none if the log is shorter. */
  public static List<String> of(Path log, int lines) {
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      long from = Math.max(0, file.length() - BYTES);
      file.seek(from);
      byte[] bytes = new byte[(int) (file.length() - from)];
      file.readFully(bytes);
      return ofText(new String(bytes, StandardCharsets.UTF_8), lines);
    } catch (IOException e) {
      return List.of();
    }
  }

  /** The last lines of a log's text. */
  public static List<String> ofText(String log, int lines) {
    Deque<String> tail = new ArrayDeque<>();
    for (String line : log.split("\n", -1)) {
      if (!line.isBlank() && LEFT_OUT.stream().noneMatch(line::contains)) {
        tail.add(line);
        if (tail.size() > lines) {
          tail.remove();
        }
      }
    }
    return tail.stream().map(LogTail::readable).toList();
  }

  /** Returns a line in readable form: severity, component, message, attributes. */
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
