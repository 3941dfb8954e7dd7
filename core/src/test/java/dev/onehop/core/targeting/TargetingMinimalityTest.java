package dev.onehop.core.targeting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.core.reference.RandomCases;
import dev.onehop.core.reference.ReferenceOrder;
import dev.onehop.core.table.Chunk;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.Tables;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.junit.jupiter.api.Test;

/** For simple filters, the target is exactly the chunks that overlap the filter. */
class TargetingMinimalityTest {
  private static final int CASES = 300;
  private static final int FILTERS = 50;

  @Test
  void singleFieldKeys() {
    RandomCases.check(CASES, TargetingMinimalityTest::checkSingleFieldKeys);
  }

  private static void checkSingleFieldKeys(Random random) {
    RoutingTable table = table("{a: 1}", random, "a");
    for (int i = 0; i < FILTERS; i++) {
      BsonValue low = value(random);
      BsonValue high = value(random);
      check(table, doc("a", low), chunk -> holds(chunk, low));
      check(table, doc("a", doc("$eq", low)), chunk -> holds(chunk, low));
      check(
          table,
          doc("a", doc("$in", new BsonArray(List.of(low, high)))),
          chunk -> holds(chunk, low) || holds(chunk, high));
      if (low.isString() == high.isString() && compare(low, high) < 0) {
        check(
            table,
            doc("a", doc("$gte", low).append("$lt", high)),
            chunk -> compare(chunk.min().get("a"), high) < 0 && reaches(chunk, low));
        check(
            table,
            doc("a", doc("$gte", low).append("$lte", high)),
            chunk -> compare(chunk.min().get("a"), high) <= 0 && reaches(chunk, low));
        check(
            table,
            new BsonDocument(
                "$and",
                new BsonArray(List.of(doc("a", doc("$lt", high)), doc("a", doc("$gte", low))))),
            chunk -> compare(chunk.min().get("a"), high) < 0 && reaches(chunk, low));
      }
    }
  }

  @Test
  void compoundKeys() {
    RandomCases.check(CASES, TargetingMinimalityTest::checkCompoundKeys);
  }

  private static void checkCompoundKeys(Random random) {
    RoutingTable table = table("{a: 1, b: 1}", random, "a", "b");
    for (int i = 0; i < FILTERS; i++) {
      BsonValue a = value(random);
      BsonValue low = value(random);
      BsonValue high = value(random);
      BsonDocument from = doc("a", a).append("b", low);
      BsonDocument to = doc("a", a).append("b", high);
      check(
          table,
          from,
          chunk -> compareKeys(chunk.min(), from) <= 0 && compareKeys(from, chunk.max()) < 0);
      if (low.isString() == high.isString() && compare(low, high) < 0) {
        check(
            table,
            doc("a", a).append("b", doc("$gte", low).append("$lt", high)),
            chunk -> compareKeys(chunk.min(), to) < 0 && compareKeys(from, chunk.max()) < 0);
      }
    }
  }

  private static void check(RoutingTable table, BsonDocument filter, Predicate<Chunk> expected) {
    Target target = Targeter.find(table, filter, TargetingOptions.NONE);
    for (int i = 0; i < table.chunkCount(); i++) {
      Chunk chunk = table.chunk(i);
      assertThat(target.touches(i)).as("%s in %s", filter, chunk).isEqualTo(expected.test(chunk));
    }
  }

  private static boolean holds(Chunk chunk, BsonValue value) {
    return compare(chunk.min().get("a"), value) <= 0 && reaches(chunk, value);
  }

  private static boolean reaches(Chunk chunk, BsonValue value) {
    return compare(value, chunk.max().get("a")) < 0;
  }

  private static int compareKeys(BsonDocument x, BsonDocument y) {
    int byA = compare(x.get("a"), y.get("a"));
    return byA != 0 ? byA : compare(x.get("b"), y.get("b"));
  }

  private static int compare(BsonValue x, BsonValue y) {
    return ReferenceOrder.SIMPLE.compare(x, y);
  }

  private static RoutingTable table(String key, Random random, String... fields) {
    TreeSet<BsonDocument> points = new TreeSet<>(ReferenceOrder.SIMPLE);
    for (int i = random.nextInt(12); i >= 0; i--) {
      BsonDocument point = new BsonDocument();
      for (String field : fields) {
        point.append(field, value(random));
      }
      points.add(point);
    }
    List<BsonDocument> sorted = new ArrayList<>(points);
    sorted.sort(
        fields.length == 1
            ? (x, y) -> compare(x.get("a"), y.get("a"))
            : TargetingMinimalityTest::compareKeys);
    return RoutingTable.of(Tables.collection(key), Tables.chunks(BsonDocument.parse(key), sorted));
  }

  private static BsonValue value(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> new BsonDouble(random.nextInt(40) / 2.0 - 5);
      case 1 -> new BsonInt32(random.nextInt(20) - 5);
      default -> new BsonString(Integer.toString(random.nextInt(200), 3));
    };
  }

  private static BsonDocument doc(String name, BsonValue value) {
    return new BsonDocument(name, value);
  }
}
