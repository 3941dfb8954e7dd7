package dev.onehop.core.targeting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.core.table.RoutingTable;
import java.util.BitSet;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.junit.jupiter.params.provider.Arguments;

/**
 * Checks lines of {@code filter -> chunks}. The chunks are numbers and ranges such as {@code 0
 * 3-5}, or {@code *} for all chunks if nothing bounds the shard key.
 */
final class Cases {
  private Cases() {}

  static Stream<Arguments> of(String lines) {
    return lines
        .lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty())
        .map(
            line -> {
              int arrow = line.lastIndexOf("->");
              return Arguments.of(
                  line.substring(0, arrow).strip(), line.substring(arrow + 2).strip());
            });
  }

  static void check(RoutingTable table, String filter, TargetingOptions options, String expected) {
    check(table, Targeter.find(table, BsonDocument.parse(filter), options), expected);
  }

  static void check(RoutingTable table, Target target, String expected) {
    assertThat(chunksOf(table, target)).as(target.toString()).isEqualTo(expected);
    if (target.isBroadcast()) {
      assertThat(target.shards()).containsExactlyElementsOf(table.shards());
    } else {
      assertThat(target.shards())
          .containsExactlyElementsOf(
              touched(table, target).stream()
                  .mapToObj(table::shardOfChunk)
                  .distinct()
                  .sorted()
                  .toList());
    }
    assertThat(target.reason()).isNotBlank();
  }

  static String chunksOf(RoutingTable table, Target target) {
    if (target.isBroadcast()) {
      return "*";
    }
    StringBuilder text = new StringBuilder();
    BitSet chunks = touched(table, target);
    for (int from = chunks.nextSetBit(0); from >= 0; ) {
      int end = chunks.nextClearBit(from);
      text.append(text.isEmpty() ? "" : " ").append(from);
      if (end - from > 1) {
        text.append('-').append(end - 1);
      }
      from = chunks.nextSetBit(end);
    }
    return text.toString();
  }

  private static BitSet touched(RoutingTable table, Target target) {
    BitSet chunks = new BitSet();
    for (int i = 0; i < table.chunkCount(); i++) {
      chunks.set(i, target.touches(i));
    }
    assertThat(target.chunkCount()).isEqualTo(chunks.cardinality());
    return chunks;
  }
}
