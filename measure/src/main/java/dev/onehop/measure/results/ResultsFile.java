package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.onehop.resync.Failure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads and writes {@code results.json}. */
public final class ResultsFile {

  /** The name of the file in a results folder. */
  public static final String NAME = "results.json";

  private static final JsonSetter.Value EMPTY = JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY);

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          // Questions such as isOfficial() are no fields of the file.
          .disable(MapperFeature.AUTO_DETECT_IS_GETTERS)
          // Older or hand-made files lack some lists and maps. These are then read as empty.
          .withConfigOverride(List.class, list -> list.setSetterInfo(EMPTY))
          .withConfigOverride(Map.class, map -> map.setSetterInfo(EMPTY))
          .build();

  private ResultsFile() {}

  /** Returns the results as JSON text, which ends in a newline. */
  public static String toJson(RunResults results) {
    try {
      return JSON.writeValueAsString(results) + "\n";
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the results cannot be written as JSON", e);
    }
  }

  /**
   * Writes {@code folder/results.json} atomically: a reader never reads a partial file.
   *
   * @throws Failure if the file can't be written
   */
  public static void write(Path folder, RunResults results) {
    Path file = folder.resolve(NAME);
    Path half = folder.resolve(NAME + ".part");
    try {
      Files.writeString(half, toJson(results));
      Files.move(half, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw Failure.run("cannot write " + file + ": " + Failure.reason(e), e);
    }
  }

  /**
   * Reads {@code folder/results.json}.
   *
   * @throws Failure if the file does not exist, is not readable, or is another kind of file
   */
  public static Results read(Path folder) {
    return whole(folder, Results.class);
  }

  /**
   * Reads the {@code results.json} of any command.
   *
   * @throws Failure as {@link #read(Path)}
   */
  public static RunResults readAny(Path folder) {
    Class<? extends RunResults> type =
        switch (command(folder)) {
          case ConsumeResults.COMMAND -> ConsumeResults.class;
          case PropagateResults.COMMAND -> PropagateResults.class;
          case CopyBenchResults.COMMAND -> CopyBenchResults.class;
          case ResyncResults.COMMAND -> ResyncResults.class;
          default -> Results.class;
        };
    return whole(folder, type);
  }

  /**
   * Returns the command that wrote the file; empty for {@code onehop bench}, which does not write
   * its name.
   */
  private static String command(Path folder) {
    JsonNode tree = read(folder, JsonNode.class);
    return tree == null ? "" : tree.path("command").asText();
  }

  private static <T extends RunResults> T whole(Path folder, Class<T> type) {
    T results = read(folder, type);
    if (results == null || !results.whole()) {
      throw Failure.run(
          folder.resolve(NAME)
              + " is not a complete results file: the topology or the server is"
              + " missing",
          null);
    }
    return results;
  }

  private static <T> @Nullable T read(Path folder, Class<T> type) {
    Path file = folder.resolve(NAME);
    if (!Files.isRegularFile(file)) {
      throw Failure.usage("no " + NAME + " in " + folder);
    }
    try {
      return JSON.readValue(file.toFile(), type);
    } catch (JsonProcessingException e) {
      String where = e.getLocation() == null ? "" : " (line " + e.getLocation().getLineNr() + ")";
      throw Failure.run(file + " is not a results file" + where + ": " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw Failure.run("cannot read " + file + ": " + Failure.reason(e), e);
    }
  }
}
