package dev.onehop.streams.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the text of the statements. Tests with real servers check the effect of the statements. */
class FieldUpdatesTest {
  private static final BsonDocument FILTER = BsonDocument.parse("{_id: 1}");

  /**
   * @param descriptions values of {@code updateDescription}, without empty fields
   */
  private static List<String> statements(String... descriptions) {
    List<FieldChanges> changes = new ArrayList<>();
    for (String description : descriptions) {
      changes.add(FieldChanges.of(BsonDocument.parse(description)));
    }
    return FieldUpdates.of(FILTER, changes).stream().map(FieldUpdatesTest::text).toList();
  }

  private static String text(FieldUpdates.Update update) {
    String kind = update.guarded() ? "guarded_update" : "update";
    BsonValue what = update.update();
    return kind
        + " "
        + update.filter()
        + " "
        + (what.isArray() ? what.asArray().getValues() : what);
  }

  @Test
  void topLevelEventBecomesOneOperatorUpdate() {
    assertThat(statements("{updatedFields: {a: 1, b: {c: 2}}, removedFields: ['d', 'e']}"))
        .containsExactly(
            "update {\"_id\": 1} {\"$unset\": {\"d\": \"\", \"e\": \"\"}, "
                + "\"$set\": {\"a\": 1, \"b\": {\"c\": 2}}}");
    assertThat(statements("{removedFields: ['d']}"))
        .containsExactly("update {\"_id\": 1} {\"$unset\": {\"d\": \"\"}}");
  }

  /**
   * One {@code $set} adds new fields in the order of their names: {@code {b: 1, a: 1}} would become
   * {@code {a: 1, b: 1}}.
   */
  @Test
  void newFieldsKeepOrder() {
    assertThat(statements("{updatedFields: {b: 1, a: 1}}"))
        .containsExactly(
            "update {\"_id\": 1} "
                + "[{\"$set\": {\"b\": {\"$literal\": 1}, \"a\": {\"$literal\": 1}}}]");
    assertThat(statements("{updatedFields: {'s.b': 1, 's.a': 1}, disambiguatedPaths: {}}"))
        .containsExactly(
            "update {\"_id\": 1} {\"$set\": {\"s.b\": 1}}",
            "update {\"_id\": 1} {\"$set\": {\"s.a\": 1}}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{a: 1, b: 1}", "{'2': 1, '10': 1}", "{'s.2': 1, 's.10': 1}"})
  void usesOneStatementIfServerKeepsOrder(String fields) {
    assertThat(statements("{updatedFields: " + fields + ", disambiguatedPaths: {}}")).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{'10': 1, '2': 1}", "{'1': 1, a: 1}", "{a: 1, '1': 1}", "{é: 1, z: 1}"})
  void splitsSetsIfServerMayChangeOrder(String fields) {
    assertThat(
            FieldChanges.of(BsonDocument.parse("{updatedFields: " + fields + "}")).ascendingSets())
        .hasSize(2);
  }

  @Test
  void usesPipelineOnlyIfOneOperatorIsNotEnough() {
    assertThat(
            statements(
                "{updatedFields: {a: 1}}",
                "{updatedFields: {c: 2, a: 3}}",
                "{updatedFields: {d: 4, c: 5}}"))
        .containsExactly("update {\"_id\": 1} {\"$set\": {\"a\": 3, \"c\": 5, \"d\": 4}}");
    assertThat(statements("{updatedFields: {b: 1}}", "{updatedFields: {a: 2}}"))
        .containsExactly(
            "update {\"_id\": 1} "
                + "[{\"$set\": {\"b\": {\"$literal\": 1}, \"a\": {\"$literal\": 2}}}]");
  }

  @Test
  void topLevelEventsBecomeOneUpdate() {
    assertThat(
            statements(
                "{updatedFields: {a: 1}}",
                "{updatedFields: {b: 2, a: 3}}",
                "{removedFields: ['c']}",
                "{updatedFields: {a: 4}, truncatedArrays: [{field: 'l', newSize: 2}]}",
                "{truncatedArrays: [{field: 'm', newSize: 0}]}"))
        .containsExactly(
            "update {\"_id\": 1} ["
                + "{\"$set\": {\"a\": {\"$literal\": 3}, \"b\": {\"$literal\": 2}}}, "
                + "{\"$unset\": \"c\"}, "
                + "{\"$set\": {\"l\": {\"$slice\": [\"$l\", 2]}}}, "
                + "{\"$set\": {\"a\": {\"$literal\": 4}}}, "
                + "{\"$set\": {\"m\": {\"$literal\": []}}}]");
  }

  /** The field must become the last field. In one pipeline it would keep its old position. */
  @Test
  void removedAndReaddedFieldNeedsTwoUpdates() {
    assertThat(
            statements(
                "{updatedFields: {a: 1}, removedFields: ['b']}",
                "{updatedFields: {b: 2}}",
                "{updatedFields: {c: 3}}"))
        .containsExactly(
            "update {\"_id\": 1} [{\"$set\": {\"a\": {\"$literal\": 1}}}, {\"$unset\": \"b\"}]",
            "update {\"_id\": 1} "
                + "[{\"$set\": {\"b\": {\"$literal\": 2}, \"c\": {\"$literal\": 3}}}]");
  }

  /**
   * The truncation and the changes of elements need two updates. In one update, operators on the
   * array and on its elements would conflict. In a pipeline, a path would apply to all elements.
   */
  @Test
  void truncatesArrayBeforeSettingElements() {
    assertThat(
            statements(
                "{updatedFields: {'l.0': 1, 'l.2.x': 2}, "
                    + "truncatedArrays: [{field: 'l', newSize: 3}], disambiguatedPaths: {}}"))
        .containsExactly(
            "update {\"_id\": 1} {\"$push\": {\"l\": {\"$each\": [], \"$slice\": 3}}}",
            "update {\"_id\": 1} {\"$set\": {\"l.0\": 1, \"l.2.x\": 2}}");
  }

  @Test
  void nestedFieldsKeepOrderOfEvents() {
    assertThat(
            statements(
                "{updatedFields: {a: 1}}",
                "{updatedFields: {'s.x': 1}, disambiguatedPaths: {}}",
                "{updatedFields: {s: 2}}",
                "{updatedFields: {t: 3}}"))
        .containsExactly(
            "update {\"_id\": 1} {\"$set\": {\"a\": 1}}",
            "update {\"_id\": 1} {\"$set\": {\"s.x\": 1}}",
            "update {\"_id\": 1} {\"$set\": {\"s\": 2, \"t\": 3}}");
  }

  /**
   * In events of servers before 6.1, {@code a.b} may be a nested field or a field with this name.
   */
  @Test
  void guardsAmbiguousDots() {
    assertThat(statements("{updatedFields: {'a.b.c': 1}}"))
        .containsExactly(
            "guarded_update {\"$and\": [{\"_id\": 1}, "
                + "{\"a.b\": {\"$type\": [\"object\", \"array\"]}}, "
                + "{\"$expr\": {\"$and\": ["
                + missing("a.b", "$$ROOT")
                + ", "
                + missing("a.b.c", "$$ROOT")
                + ", "
                + missing("b.c", "$a")
                + "]}}]} {\"$set\": {\"a.b.c\": 1}}");
    assertThat(statements("{removedFields: ['a.b', 'c']}"))
        .first()
        .asString()
        .startsWith("guarded");
    assertThat(statements("{removedFields: ['a', 'c']}")).first().asString().startsWith("update");
  }

  private static String missing(String name, String in) {
    return ("{\"$eq\": [{\"$type\": {\"$getField\": {\"field\": {\"$literal\": \"%s\"}, "
            + "\"input\": \"%s\"}}}, \"missing\"]}")
        .formatted(name, in);
  }

  /** If later events were already applied, the value at a path may have another type. */
  @Test
  void repeatableUpdateChecksTypes() {
    assertThat(repeatable("{updatedFields: {a: 1}, removedFields: ['b']}"))
        .containsExactly("update {\"_id\": 1} {\"$unset\": {\"b\": \"\"}, \"$set\": {\"a\": 1}}");
    assertThat(
            repeatable(
                "{updatedFields: {'l.0': 1}, truncatedArrays: [{field: 's.l', newSize: 3}],"
                    + " disambiguatedPaths: {}}"))
        .containsExactly(
            "update {\"$and\": [{\"_id\": 1}, %s, %s]} "
                    .formatted(
                        isOf(field("s", "\"$$ROOT\""), "\"object\""),
                        isOf(field("l", field("s", "\"$$ROOT\"")), "\"array\""))
                + "{\"$push\": {\"s.l\": {\"$each\": [], \"$slice\": 3}}}",
            "update {\"$and\": [{\"_id\": 1}, %s]} {\"$set\": {\"l.0\": 1}}"
                .formatted(isOf(field("l", "\"$$ROOT\""), "\"object\", \"array\"")));
    assertThat(repeatable("{truncatedArrays: [{field: 'l', newSize: 2}]}"))
        .containsExactly(
            "update {\"_id\": 1} [{\"$set\": {\"l\": {\"$cond\": [{\"$isArray\": \"$l\"}, "
                + "{\"$slice\": [\"$l\", 2]}, \"$l\"]}}}]");
  }

  /**
   * The path of a query also applies to each element of an array; the path of an update does not.
   */
  @Test
  void repeatableUpdateMatchesObjectsAndArrayIndexes() {
    String element =
        "{\"$let\": {\"vars\": {\"in\": %s}, \"in\": {\"$cond\": [{\"$isArray\": \"$$in\"}, "
                .formatted(field("l", "\"$$ROOT\""))
            + "{\"$arrayElemAt\": [\"$$in\", 2]}, %s]}}}".formatted(field("2", "\"$$in\""));
    assertThat(
            repeatable(
                "{updatedFields: {'l.2.x': 1, 'l.2.y': 1, 'l.2.z.1': 2}, disambiguatedPaths: {}}"))
        .first()
        .asString()
        .startsWith(
            "update {\"$and\": [{\"_id\": 1}, %s, %s]}"
                .formatted(
                    isOf(element, "\"object\""),
                    isOf(field("z", element), "\"object\", \"array\"")));
  }

  private static String isOf(String value, String types) {
    return "{\"$expr\": {\"$in\": [{\"$type\": %s}, [%s]]}}".formatted(value, types);
  }

  private static String field(String name, String in) {
    return "{\"$getField\": {\"field\": {\"$literal\": \"%s\"}, \"input\": %s}}"
        .formatted(name, in);
  }

  private static List<String> repeatable(String description) {
    return FieldUpdates.repeatable(FILTER, FieldChanges.of(BsonDocument.parse(description)))
        .stream()
        .map(FieldUpdatesTest::text)
        .toList();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{updatedFields: {'$a': 1}}",
        "{updatedFields: {'a.$b': 1}}",
        "{updatedFields: {'': 1}}",
        "{updatedFields: {'a..b': 1}}",
        "{removedFields: ['a.']}",
        "{truncatedArrays: [{field: '$l', newSize: 1}]}",
        "{updatedFields: {'a.b': 1}, disambiguatedPaths: {'a.b': ['a.b']}}",
        "{updatedFields: {'x.a.b': 1}, disambiguatedPaths: {'x.a.b': ['x', 'a.b']}}"
      })
  void returnsNullIfOperatorsCannotExpressChange(String description) {
    assertThat(FieldChanges.of(BsonDocument.parse(description))).isNull();
  }

  @Test
  void indexAndDigitNameHaveSamePath() {
    assertThat(statements("{updatedFields: {'a.0': 1}, disambiguatedPaths: {'a.0': ['a', '0']}}"))
        .containsExactly("update {\"_id\": 1} {\"$set\": {\"a.0\": 1}}");
    assertThat(statements("{updatedFields: {'a.0': 1}, disambiguatedPaths: {'a.0': ['a', 0]}}"))
        .containsExactly("update {\"_id\": 1} {\"$set\": {\"a.0\": 1}}");
  }

  @Test
  void concernsParentAndNestedFields() {
    FieldChanges changes =
        FieldChanges.of(BsonDocument.parse("{updatedFields: {'a.b': 1, cd: 1}}"));
    assertThat(changes.concerns("a")).isTrue();
    assertThat(changes.concerns("a.b")).isTrue();
    assertThat(changes.concerns("a.b.c")).isTrue();
    assertThat(changes.concerns("a.c")).isFalse();
    assertThat(changes.concerns("c")).isFalse();
    assertThat(changes.concerns("cd")).isTrue();
  }
}
