package dev.onehop.core.targeting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.core.bson.HashedKey;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.Tables;
import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class FilterTargetingTest {
  /** A table with at least one chunk for each type class that the tests use. */
  private static final RoutingTable MIXED =
      Tables.split(
          "{a: 1}",
          "{a: null}", // 1: null, missing
          "{a: NaN}", // 2
          "{a: -Infinity}", // 3
          "{a: 0}", // 4
          "{a: 10}", // 5
          "{a: 20}", // 6
          "{a: ''}", // 7
          "{a: 'b'}", // 8
          "{a: 'c'}", // 9
          "{a: {}}", // 10
          "{a: {b: 10}}", // 11
          "{a: {$oid: '000000000000000000000000'}}", // 12
          "{a: false}", // 13
          "{a: true}", // 14
          "{a: {$date: {$numberLong: '0'}}}", // 15
          "{a: {$timestamp: {t: 0, i: 0}}}"); // 16: timestamps, regular expressions, code

  private static final RoutingTable DOTTED =
      Tables.split("{'a.b': 1}", "{'a.b': 10}", "{'a.b': 20}");

  private static final RoutingTable COMPOUND =
      Tables.split(
          "{a: 1, b: 1}",
          "{a: 1, b: 10}",
          "{a: 1, b: 20}",
          "{a: 2, b: {$minKey: 1}}",
          "{a: 3, b: 0}");

  private static final RoutingTable DESCENDING =
      Tables.split("{a: 1, b: -1}", "{a: 1, b: 20}", "{a: 1, b: 10}", "{a: 2, b: {$maxKey: 1}}");

  private static final RoutingTable HASHED =
      Tables.split(
          "{a: 'hashed'}",
          "{a: {$numberLong: '-4611686018427387904'}}",
          "{a: {$numberLong: '0'}}",
          "{a: {$numberLong: '4611686018427387904'}}");

  private static final TargetingOptions FRENCH =
      new TargetingOptions(BsonDocument.parse("{locale: 'fr'}"), null);

  static Stream<Arguments> mixedTypes() {
    return Cases.of(
        """
        {} -> *
        {x: 1} -> *
        {a: 5} -> 4
        {a: 5.0} -> 4
        {a: {$numberLong: '5'}} -> 4
        {a: {$numberDecimal: '5.00'}} -> 4
        {a: {$eq: 5}} -> 4
        {a: -0.0} -> 4
        {a: NaN} -> 2
        {a: {$numberDecimal: 'NaN'}} -> 2
        {a: {$eq: NaN}} -> 2
        {a: 'b'} -> 8
        {a: {$symbol: 'b'}} -> 8
        {a: true} -> 14
        {a: {$minKey: 1}} -> 0
        {a: {$maxKey: 1}} -> 16
        {a: null} -> 0-1
        {a: {$eq: null}} -> 0-1
        {a: {$undefined: true}} -> *
        {a: {$exists: false}} -> 1
        {a: {$exists: true}} -> *
        {a: {$ne: 5}} -> 0-16
        {a: {$ne: null}} -> 0-16
        {a: {$lt: 0}} -> 3
        {a: {$lte: 0}} -> 3-4
        {a: {$gt: 15}} -> 5-6
        {a: {$gte: 10, $lt: 20}} -> 5
        {a: {$gt: 5, $lt: 15}} -> 4-5
        {a: {$gt: 15, $lt: 5}} -> 0
        {a: {$gt: 5, $lt: 'b'}} -> 0
        {a: {$gt: NaN}} -> 0
        {a: {$gte: NaN}} -> 2
        {a: {$lte: NaN}} -> 2
        {a: {$lt: Infinity}} -> 3-6
        {a: {$lt: 'b'}} -> 7
        {a: {$lte: 'b'}} -> 7-8
        {a: {$gte: 'b'}} -> 8-9
        {a: {$gte: false}} -> 13-14
        {a: {$lt: true}} -> 13
        {a: {$lt: {$date: {$numberLong: '5'}}}} -> 14-15
        {a: {$gte: {$date: {$numberLong: '5'}}}} -> 15
        {a: {$gte: {$timestamp: {t: 5, i: 1}}}} -> 16
        {a: {$lt: {$oid: '500000000000000000000000'}}} -> 12
        {a: {$lt: {b: 5}}} -> 10
        {a: {$gt: {b: 5}}} -> 10-11
        {a: {$gte: null}} -> 0-1
        {a: {$lte: null}} -> 0-1
        {a: {$gt: null}} -> 0-1
        {a: {$gt: {$minKey: 1}}} -> *
        {a: {$lt: {$maxKey: 1}}} -> *
        {a: {$gt: [1]}} -> *
        {a: {$in: [1, 15, 'b']}} -> 4-5 8
        {a: {$in: [5]}} -> 4
        {a: {$in: []}} -> 0
        {a: {$in: [null, 5]}} -> 0-1 4
        {a: {$in: [5, /^b/]}} -> 4 8 16
        {a: {$in: [5, [6]]}} -> *
        {a: {$nin: [5]}} -> 0-16
        {a: {$nin: [5, 'b', null]}} -> 0-16
        {a: {$not: {$ne: 5}}} -> 4
        {a: {$not: {$lt: 10}}} -> 0-2 5-16
        {a: {$not: {$not: {$lt: 10}}}} -> 3-4
        {a: {$not: /^b/}} -> *
        {$nor: [{a: {$lt: 10}}]} -> 0-2 5-16
        {$nor: [{a: {$ne: 5}}]} -> 4
        {$nor: [{a: {$ne: 5}}, {x: 1}]} -> 4
        {$nor: [{}]} -> 0
        {$nor: [{x: 1}]} -> *
        {$nor: [{$or: [{a: {$ne: 5}}, {a: {$ne: 5.0}}]}]} -> 4
        {$and: [{a: {$gte: 10}}, {a: {$lt: 20}}]} -> 5
        {$and: [{a: 5}, {a: 15}]} -> 0
        {$and: [{x: 1}, {a: 15}]} -> 5
        {$and: []} -> *
        {$or: [{a: 5}, {a: 'b'}]} -> 4 8
        {$or: [{a: 5}, {x: 1}]} -> *
        {$or: [{a: 5}, {a: 5, x: 1}]} -> 4
        {$and: [{$or: [{a: 5}, {a: 15}]}, {a: {$gt: 10}}]} -> 5
        {a: 5, x: 1} -> 4
        {a: 5, $or: [{x: 1}, {y: 2}]} -> 4
        {a: {$gt: 5}, $or: [{a: 7}, {a: 17}, {a: 'b'}]} -> 4-5
        {a: /^b/} -> 8 16
        {a: /^bc/} -> 8 16
        {a: /^b*/} -> 7-9 16
        {a: /^b\\./} -> 8 16
        {a: /^b/i} -> 7-9 16
        {a: /^b/m} -> 7-9 16
        {a: /b/} -> 7-9 16
        {a: /^(b)/} -> 7-9 16
        {a: /^b|c/} -> 7-9 16
        {a: {$regex: '^b'}} -> 8 16
        {a: {$regex: '^b', $options: ''}} -> 8 16
        {a: {$options: 'i', $regex: '^b'}} -> 7-9 16
        {a: {$regex: '\\\\Abc'}} -> 8 16
        {a: {$eq: /^b/}} -> 16
        {a: {b: 5}} -> 10
        {a: {$eq: {b: 5}}} -> 10
        {a: {b: {$numberDecimal: '10.0'}}} -> 11
        {a: {$ref: 'x', $id: 1}} -> 11
        {'a.b': 5} -> *
        {a: [1, 2]} -> *
        {a: {$type: 'string'}} -> *
        {a: {$elemMatch: {$gt: 1}}} -> *
        {a: {$size: 1}} -> *
        {a: {$mod: [2, 0]}} -> *
        {a: {$all: [5]}} -> 4
        {a: {$all: [5, 15]}} -> 0
        {a: {$all: []}} -> *
        {$where: 'true'} -> *
        {$text: {$search: 'x'}} -> *
        {$comment: 'why', a: 5} -> 4
        {$expr: {$eq: ['$a', 5]}} -> 4
        {$expr: {$eq: [5, '$a']}} -> 4
        {$expr: {$eq: ['$a', null]}} -> 0-1
        {$expr: {$ne: ['$a', 5]}} -> *
        {$expr: {$gt: ['$a', 15]}} -> 5-16
        {$expr: {$lt: [15, '$a']}} -> 5-16
        {$expr: {$lt: ['$a', 5]}} -> 0-4
        {$expr: {$lte: ['$a', 'b']}} -> 0-8
        {$expr: {$lt: ['$a', {$minKey: 1}]}} -> 1
        {$expr: {$and: [{$gte: ['$a', 10]}, {$lt: ['$a', 20]}]}} -> 5
        {$expr: {$or: [{$eq: ['$a', 5]}, {$eq: ['$a', 'b']}]}} -> 4 8
        {$expr: {$in: ['$a', [5, 15]]}} -> 4-5
        {$expr: {$in: ['$a', '$b']}} -> *
        {$expr: {$eq: ['$a', {$literal: '$b'}]}} -> 7
        {$expr: {$eq: ['$a', '$b']}} -> *
        {$expr: {$eq: ['$a', {$add: [1, 2]}]}} -> *
        {$expr: {$eq: ['$a', '$$x']}} -> *
        {$expr: {$eq: ['$a', '$$NOW']}} -> *
        {$expr: {$not: [{$eq: ['$a', 5]}]}} -> *
        {$nor: [{$expr: {$eq: ['$a', 5]}}]} -> *
        {$expr: true} -> *
        {a: {$gte: 10}, $expr: {$lt: ['$a', 20]}} -> 5
        """);
  }

  @ParameterizedTest
  @MethodSource("mixedTypes")
  void targetsChunksThatCanMatch(String filter, String chunks) {
    Cases.check(MIXED, filter, TargetingOptions.NONE, chunks);
  }

  static Stream<Arguments> collated() {
    return Cases.of(
        """
        {a: 'b'} -> 7-9
        {a: {$in: ['b', 5]}} -> 4 7-9
        {a: {$lt: 'b'}} -> 7-9
        {a: {$ne: 'b'}} -> *
        {a: {b: 5}} -> 10-11
        {a: {$gte: {b: 15}}} -> 10-11
        {a: 5} -> 4
        {a: {$gt: 15}} -> 5-6
        {a: {$oid: '500000000000000000000000'}} -> 12
        {a: null} -> 0-1
        {a: /^b/} -> 8 16
        {$expr: {$eq: ['$a', 5]}} -> 4
        {$expr: {$lt: ['$a', 'b']}} -> *
        {$expr: {$eq: ['$a', 'b']}} -> 7-9
        """);
  }

  @ParameterizedTest
  @MethodSource("collated")
  void collationTargetsStringsByTypeOnly(String filter, String chunks) {
    Cases.check(MIXED, filter, FRENCH, chunks);
  }

  @Test
  void operationOverridesCollationOfCollection() {
    BsonDocument key = BsonDocument.parse("{a: 1}");
    RoutingTable table =
        RoutingTable.of(
            Tables.collection("{a: 1}")
                .append("defaultCollation", BsonDocument.parse("{locale: 'fr', strength: 1}")),
            Tables.chunks(key, Tables.points("{a: 5}", "{a: 'b'}", "{a: 'c'}")));
    TargetingOptions simple = new TargetingOptions(BsonDocument.parse("{locale: 'simple'}"), null);
    Cases.check(table, "{a: 'b'}", TargetingOptions.NONE, "1-3");
    Cases.check(table, "{a: 4}", TargetingOptions.NONE, "0");
    Cases.check(table, "{a: 'b'}", simple, "2");
    Cases.check(table, "{a: 'b'}", FRENCH, "1-3");
    assertThat(table.defaultCollation()).containsEntry("locale", new BsonString("fr"));
  }

  @Test
  void treatsLetVariablesAsConstants() {
    TargetingOptions let =
        new TargetingOptions(
            null, BsonDocument.parse("{x: 5, y: {$literal: '$b'}, z: '$a', w: {$add: [1, 2]}}"));
    Cases.check(MIXED, "{$expr: {$eq: ['$a', '$$x']}}", let, "4");
    Cases.check(MIXED, "{$expr: {$gt: ['$$x', '$a']}}", let, "0-4");
    Cases.check(MIXED, "{$expr: {$in: ['$a', ['$$x', 15]]}}", let, "4-5");
    Cases.check(MIXED, "{$expr: {$eq: ['$a', '$$y']}}", let, "7");
    Cases.check(MIXED, "{$expr: {$eq: ['$a', '$$z']}}", let, "*");
    Cases.check(MIXED, "{$expr: {$eq: ['$a', '$$w']}}", let, "*");
    Cases.check(MIXED, "{$expr: {$eq: ['$a', '$$x.y']}}", let, "*");
    // Outside $expr, "$$x" is a plain string.
    Cases.check(MIXED, "{a: '$$x'}", let, "7");
  }

  static Stream<Arguments> dotted() {
    return Cases.of(
        """
        {'a.b': 15} -> 1
        {a: {b: 15}} -> 1
        {a: {b: 15, c: 1}} -> 1
        {a: {c: 1}} -> 0
        {a: {}} -> 0
        {a: null} -> 0
        {a: 5} -> 0
        {'a.b': null} -> 0
        {'a.b': {$exists: false}} -> 0
        {a: {$eq: {b: 15}}} -> 1
        {a: {$in: [{b: 5}, {b: 25}]}} -> 0 2
        {a: {$in: [{b: 5}, /x/]}} -> *
        {a: {$gt: {b: 15}}} -> *
        {a: {$ne: {b: 15}}} -> *
        {a: {$exists: false}} -> *
        {a: {b: [1]}} -> *
        {a: []} -> *
        {a: /x/} -> *
        {'a.b.c': 1} -> *
        {b: 15} -> *
        {'a.bc': 15} -> *
        {'a.b': {$gt: 12}} -> 1-2
        {'a.b': {$gte: 10, $lt: 20}} -> 1
        {$and: [{a: {b: 15}}, {'a.b': {$lt: 30}}]} -> 1
        {$nor: [{a: {b: 15}}]} -> *
        {$expr: {$eq: ['$a.b', 15]}} -> 1
        {$expr: {$eq: ['$a', {$literal: {b: 15}}]}} -> *
        """);
  }

  @ParameterizedTest
  @MethodSource("dotted")
  void findsDottedKeyInSubdocuments(String filter, String chunks) {
    Cases.check(DOTTED, filter, TargetingOptions.NONE, chunks);
  }

  static Stream<Arguments> compound() {
    return Cases.of(
        """
        {a: 1, b: 15} -> 1
        {b: 15, a: 1} -> 1
        {a: 1} -> 0-2
        {a: 2} -> 3
        {a: 1, b: {$gte: 10, $lt: 20}} -> 1
        {a: 1, b: {$gt: 10, $lte: 20}} -> 1-2
        {a: 1, b: null} -> 0
        {a: {$in: [1, 2]}, b: 15} -> 1 3
        {a: 1, b: {$in: [5, 25]}} -> 0 2
        {a: {$in: [1, 3]}, b: {$in: [15, -15]}} -> 0-1 3-4
        {b: 15} -> 0-4
        {a: {$gt: 1}} -> 2-4
        {a: {$gte: 2}} -> 3-4
        {a: {$lt: 2}} -> 0-2
        {a: {$lte: 2}} -> 0-3
        {a: {$gte: 1, $lte: 2}, b: 15} -> 1-3
        {$or: [{a: 1, b: 5}, {a: 2, b: 5}]} -> 0 3
        {$or: [{a: 1, b: 5}, {b: 5}]} -> 0-4
        {a: 1, $or: [{b: 15}, {b: 25}]} -> 1-2
        {a: 1, b: {$not: {$lt: 20}}} -> 0 2
        """);
  }

  @ParameterizedTest
  @MethodSource("compound")
  void compoundKeyNarrowsFieldByField(String filter, String chunks) {
    Cases.check(COMPOUND, filter, TargetingOptions.NONE, chunks);
  }

  static Stream<Arguments> descending() {
    return Cases.of(
        """
        {a: 1, b: 25} -> 0
        {a: 1, b: 20} -> 1
        {a: 1, b: 15} -> 1
        {a: 1, b: 10} -> 2
        {a: 1, b: {$gt: 20}} -> 0
        {a: 1, b: {$gte: 20}} -> 0-1
        {a: 1, b: {$lt: 15}} -> 1-2
        {a: 1, b: {$lte: 10}} -> 2
        {a: 1, b: {$in: [30, 5]}} -> 0 2
        {a: {$gte: 2}} -> 3
        {a: {$lt: 2}} -> 0-2
        """);
  }

  @ParameterizedTest
  @MethodSource("descending")
  void descendingFieldReversesOrder(String filter, String chunks) {
    Cases.check(DESCENDING, filter, TargetingOptions.NONE, chunks);
  }

  @Test
  void hashedKeyNeedsEquality() {
    for (BsonValue value :
        List.of(
            new BsonInt32(5),
            new BsonDouble(7),
            new BsonString("x"),
            new BsonInt64(-1),
            BsonDocument.parse("{b: 1}"))) {
      BsonDocument filter = new BsonDocument("a", value);
      int expected = chunkOfHash(value);
      Cases.check(HASHED, filter.toJson(), TargetingOptions.NONE, "" + expected);
      Cases.check(
          HASHED,
          new BsonDocument("a", new BsonDocument("$eq", value)).toJson(),
          TargetingOptions.NONE,
          "" + expected);
    }
    Cases.check(HASHED, "{a: {$gt: 5}}", TargetingOptions.NONE, "*");
    Cases.check(HASHED, "{a: {$ne: 5}}", TargetingOptions.NONE, "*");
    Cases.check(HASHED, "{a: /^b/}", TargetingOptions.NONE, "*");
    Cases.check(
        HASHED, "{a: {$exists: false}}", TargetingOptions.NONE, "" + chunkOfHash(BsonNull.VALUE));
    Target in =
        Targeter.find(HASHED, BsonDocument.parse("{a: {$in: [5, 'x']}}"), TargetingOptions.NONE);
    assertThat(in.touches(chunkOfHash(new BsonInt32(5)))).isTrue();
    assertThat(in.touches(chunkOfHash(new BsonString("x")))).isTrue();
    assertThat(in.chunkCount()).isLessThanOrEqualTo(2);
    Cases.check(HASHED, "{a: 'x'}", FRENCH, "*");
  }

  @Test
  void fractionTargetsBothPossibleHashes() {
    // The double 1.5 hashes like 1, and the Decimal128 1.5 hashes like 2.
    Target target = Targeter.find(HASHED, BsonDocument.parse("{a: 1.5}"), TargetingOptions.NONE);
    assertThat(target.touches(chunkOfHash(new BsonInt32(1)))).isTrue();
    assertThat(target.touches(chunkOfHash(new BsonInt32(2)))).isTrue();
    Cases.check(HASHED, "{a: {b: 1.5}}", TargetingOptions.NONE, "*");
  }

  @Test
  void hashedPrefixesAndSuffixesNarrowTargets() {
    long hash = HashedKey.hash(new BsonInt32(5));
    RoutingTable prefix =
        Tables.split(
            "{a: 'hashed', b: 1}",
            "{a: {$numberLong: '%d'}, b: 0}".formatted(hash),
            "{a: {$numberLong: '%d'}, b: 10}".formatted(hash));
    Cases.check(prefix, "{a: 5, b: 5}", TargetingOptions.NONE, "1");
    Cases.check(prefix, "{a: 5.0, b: {$gte: 10}}", TargetingOptions.NONE, "2");
    Cases.check(prefix, "{a: 5}", TargetingOptions.NONE, "0-2");
    RoutingTable suffix =
        Tables.split(
            "{b: 1, a: 'hashed'}",
            "{b: 1, a: {$numberLong: '%d'}}".formatted(hash),
            "{b: 1, a: {$numberLong: '%d'}}".formatted(hash + 1),
            "{b: 2, a: {$minKey: 1}}");
    Cases.check(suffix, "{b: 1, a: 5}", TargetingOptions.NONE, "1");
    Cases.check(suffix, "{b: {$lt: 1}, a: 5}", TargetingOptions.NONE, "0");
    Cases.check(suffix, "{b: {$gte: 2}}", TargetingOptions.NONE, "3");
    Cases.check(suffix, "{b: 1, a: {$gt: 5}}", TargetingOptions.NONE, "0-2");
  }

  private static int chunkOfHash(BsonValue value) {
    long hash = HashedKey.hash(value);
    return hash < -4611686018427387904L ? 0 : hash < 0 ? 1 : hash < 4611686018427387904L ? 2 : 3;
  }
}
