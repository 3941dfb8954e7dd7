package dev.onehop.it.unified;

import dev.onehop.it.clients.Mode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tests that are known to fail, from two lists: {@code plain.txt} has the tests that fail with
 * the driver alone, {@code differences.txt} those that fail only with OneHop. A list has sections:
 *
 * <pre>
 * [fails in plain, targeted @ sharded] the reason
 * folder/file: the test's description
 * </pre>
 *
 * <p>Instead of {@code fails in}, a header can have {@code unsharded in}: these tests fail on
 * sharded collections by the server's rules, and must pass on unsharded ones. With {@code left out
 * in}, the tests are not run, because their results vary. {@code all} stands for every mode, and a
 * deployment may be {@code any}.
 */
final class Expectations {
  private static final Pattern HEADER =
      Pattern.compile(
          "\\[(fails|unsharded|left out) in ([a-z, -]+) @ (sharded|replicaset|any)] (.+)");

  private final Map<String, String> fails = new HashMap<>();
  private final Map<String, String> unsharded = new HashMap<>();
  private final Map<String, String> leftOut = new HashMap<>();

  /** Reads those sections of the lists that apply to one mode on one kind of deployment. */
  static Expectations of(Mode mode, String topology) {
    Expectations expectations = new Expectations();
    for (String list : List.of("plain.txt", "differences.txt")) {
      expectations.read(list, mode, topology);
    }
    return expectations;
  }

  private void read(String list, Mode mode, String topology) {
    boolean plainList = list.equals("plain.txt");
    @Nullable Map<String, String> section = null;
    String reason = "";
    for (String line : lines(list)) {
      Matcher header = HEADER.matcher(line);
      if (header.matches()) {
        List<String> modes = List.of(header.group(2).split(", ", -1));
        boolean plain =
            modes.contains("all")
                || modes.contains(Mode.PLAIN.id())
                || modes.contains(Mode.PLAIN_SYNC.id());
        if (plain != plainList) {
          throw new AssertionError("this section belongs in the other list: " + line);
        }
        boolean mine =
            (modes.contains("all") || modes.contains(mode.id()))
                && (header.group(3).equals("any") || header.group(3).equals(topology));
        section =
            switch (mine ? header.group(1) : "") {
              case "fails" -> fails;
              case "unsharded" -> unsharded;
              case "left out" -> leftOut;
              default -> new HashMap<>();
            };
        reason = header.group(4);
      } else if (section == null || line.startsWith("[")) {
        throw new AssertionError(list + " has a line that is no section's: " + line);
      } else if (section.put(line, reason) != null) {
        throw new AssertionError("listed twice: " + line);
      }
    }
  }

  private static List<String> lines(String list) {
    try (InputStream in =
        Objects.requireNonNull(Expectations.class.getResourceAsStream(list), list)) {
      Stream<String> lines = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines();
      return new ArrayList<>(
          lines.filter(line -> !line.isBlank() && !line.startsWith("#")).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The reason for a known failure, or null. */
  @Nullable String fails(SpecificationTest test) {
    return fails.get(test.id());
  }

  /** The reason for a failure on sharded collections, or null. */
  @Nullable String unsharded(SpecificationTest test) {
    return unsharded.get(test.id());
  }

  /** The reason that a test is not run, or null. */
  @Nullable String leftOut(SpecificationTest test) {
    return leftOut.get(test.id());
  }

  /** All listed tests. */
  Set<String> listed() {
    Set<String> all = new TreeSet<>(fails.keySet());
    all.addAll(unsharded.keySet());
    all.addAll(leftOut.keySet());
    return all;
  }
}
