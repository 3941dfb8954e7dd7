package dev.onehop.core.targeting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.core.bson.HashedKey;
import dev.onehop.core.reference.RandomCases;
import dev.onehop.core.reference.RandomFilters;
import dev.onehop.core.reference.ReferenceMatcher;
import dev.onehop.core.reference.ReferenceOrder;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.Tables;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.junit.jupiter.api.Test;

/**
 * No document that matches a filter is in a chunk that targeting leaves out. Each case makes a
 * table, documents and filters, and checks every document with every filter: {@value #CASES} x
 * {@value #FILTERS} x {@value #DOCUMENTS} = 1.2 million.
 */
class TargetingSoundnessTest {
  private static final int CASES = 1_000;
  private static final int FILTERS = 60;
  private static final int DOCUMENTS = 20;

  private static final String[] KEYS = {
    "{a: 1}",
    "{a: 1}",
    "{a: -1}",
    "{'c.d': 1}",
    "{c: 1}",
    "{a: 1, b: 1}",
    "{a: 1, b: -1}",
    "{'c.d': 1, a: 1}",
    "{'c.d': 1, 'c.e': 1}",
    "{a: 1, 'c.d': 1, b: 1}",
    "{a: 'hashed'}",
    "{'c.d': 'hashed'}",
    "{a: 'hashed', b: 1}",
    "{a: 1, b: 'hashed'}"
  };

  /** A document and the chunk that contains it. */
  private record Placed(BsonDocument document, int chunk) {}

  private int pairs;
  private int matches;
  private int narrowed;

  @Test
  void targetsChunkOfEveryMatchingDocument() {
    RandomCases.check(CASES, this::check);
    assertThat(pairs).as("pairs").isGreaterThanOrEqualTo(1_000_000);
    assertThat(matches).as("matches").isGreaterThanOrEqualTo(100_000);
    assertThat(narrowed).as("targets that leave chunks out").isGreaterThanOrEqualTo(10_000);
  }

  private void check(Random random) {
    RandomFilters filters = new RandomFilters(random);
    boolean collated = random.nextInt(6) == 0;
    BsonValue variable = filters.scalar();
    BsonDocument let = new BsonDocument("v", new BsonDocument("$literal", variable));
    TargetingOptions options =
        new TargetingOptions(
            collated ? BsonDocument.parse("{locale: 'en', strength: 2}") : null, let);
    ReferenceMatcher matcher =
        new ReferenceMatcher(
            collated ? ReferenceOrder.IGNORING_CASE : ReferenceOrder.SIMPLE,
            random.nextBoolean(),
            let);
    BsonDocument key = BsonDocument.parse(KEYS[random.nextInt(KEYS.length)]);
    RoutingTable table = table(key, filters, 1 + random.nextInt(12));
    List<Placed> documents = new ArrayList<>();
    for (int i = 0; i < DOCUMENTS; i++) {
      BsonDocument document = filters.document();
      documents.add(new Placed(document, place(table, key, document)));
    }
    for (int i = 0; i < FILTERS; i++) {
      check(table, filters.filter(2), options, matcher, documents);
    }
  }

  private void check(
      RoutingTable table,
      BsonDocument filter,
      TargetingOptions options,
      ReferenceMatcher matcher,
      List<Placed> documents) {
    Target target = Targeter.find(table, filter, options);
    if (target.chunkCount() < table.chunkCount()) {
      narrowed++;
    }
    for (Placed placed : documents) {
      pairs++;
      if (matcher.matches(placed.document, filter)) {
        matches++;
        if (!target.touches(placed.chunk)
            || !target.shards().contains(table.shardOfChunk(placed.chunk))) {
          throw new AssertionError(
              "%s: %s matches %s, lies in %s, but the target is %s"
                  .formatted(options, placed.document, filter, table.chunk(placed.chunk), target));
        }
      }
    }
  }

  /**
   * A table that is split at the keys of random documents. The reference implementation sorts these
   * keys.
   */
  private static RoutingTable table(BsonDocument key, RandomFilters filters, int splits) {
    TreeMap<BsonDocument, BsonDocument> points = new TreeMap<>((a, b) -> compare(key, a, b));
    for (int i = 0; i < splits; i++) {
      BsonDocument point = keyOf(key, filters.document());
      points.put(point, point);
    }
    points.remove(Tables.lowest(key));
    points.remove(Tables.highest(key));
    return RoutingTable.of(
        Tables.collection(key.toJson()), Tables.chunks(key, List.copyOf(points.values())));
  }

  private static int place(RoutingTable table, BsonDocument key, BsonDocument document) {
    BsonDocument at = keyOf(key, document);
    int chunk = 0;
    while (chunk + 1 < table.chunkCount() && compare(key, table.chunk(chunk).max(), at) <= 0) {
      chunk++;
    }
    return chunk;
  }

  private static BsonDocument keyOf(BsonDocument key, BsonDocument document) {
    BsonDocument found = new BsonDocument();
    for (Map.Entry<String, BsonValue> field : key.entrySet()) {
      BsonValue value = ReferenceMatcher.find(document, field.getKey());
      value = value == null ? BsonNull.VALUE : value;
      found.append(
          field.getKey(),
          field.getValue().isString() ? new BsonInt64(HashedKey.hash(value)) : value);
    }
    return found;
  }

  private static int compare(BsonDocument key, BsonDocument a, BsonDocument b) {
    for (Map.Entry<String, BsonValue> field : key.entrySet()) {
      int order = ReferenceOrder.SIMPLE.compare(a.get(field.getKey()), b.get(field.getKey()));
      if (order != 0) {
        boolean descending =
            field.getValue().isNumber() && field.getValue().asNumber().intValue() < 0;
        return descending ? -order : order;
      }
    }
    return 0;
  }
}
