package dev.onehop.copy.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MappingTest {
  private static Mapping of(List<String> included, List<String> excluded) {
    return new Mapping(included, excluded, Map.of(), Map.of(), null);
  }

  private static Mapping renaming(Map<String, String> names) {
    return new Mapping(List.of(), List.of(), names, Map.of(), null);
  }

  @Test
  void mapsAllExceptSystemCollections() {
    assertThat(Mapping.ALL.destination("shop.orders")).isEqualTo("shop.orders");
    assertThat(Mapping.ALL.destination("shop.a.b")).isEqualTo("shop.a.b");
    assertThat(Mapping.ALL.destination("shop.system.buckets.t")).isEqualTo("shop.system.buckets.t");
    for (String not :
        List.of("admin.x", "config.chunks", "local.oplog.rs", "shop.system.views", "shop")) {
      assertThat(Mapping.ALL.destination(not)).as(not).isNull();
    }
  }

  @Test
  void matchesPatternsOfDatabasesAndCollections() {
    Mapping mapping = of(List.of("shop", "a*.log*"), List.of("shop.tmp*", "*.secret"));
    assertThat(mapping.destination("shop.orders")).isNotNull();
    assertThat(mapping.destination("shop.tmp1")).isNull();
    assertThat(mapping.destination("shop.secret")).isNull();
    assertThat(mapping.destination("shopping.orders")).isNull();
    assertThat(mapping.destination("abc.logs")).isNotNull();
    assertThat(mapping.destination("abc.other")).isNull();
    assertThat(mapping.concerns("shop")).isTrue();
    assertThat(mapping.concerns("abc")).isTrue();
    assertThat(mapping.concerns("b")).isFalse();
    assertThat(mapping.splits("shop")).isTrue();
    assertThat(of(List.of("shop"), List.of()).splits("shop")).isFalse();
    assertThat(of(List.of("shop.a"), List.of()).splits("shop")).isTrue();
  }

  @Test
  void reportsUnusedPatterns() {
    Mapping mapping = of(List.of("shop", "nosuch", "a.b*"), List.of());
    assertThat(mapping.unused(List.of("shop.orders", "a.c"))).containsExactly("nosuch", "a.b*");
    assertThat(mapping.unused(List.of("shop.x", "nosuch.y", "a.bc"))).isEmpty();
    assertThat(Mapping.ALL.unused(List.of())).isEmpty();
  }

  @Test
  void dotsInPatternsAreLiteral() {
    assertThat(of(List.of("a.b"), List.of()).destination("a.xb")).isNull();
    assertThat(of(List.of("a.b"), List.of()).destination("axb.c")).isNull();
  }

  @Test
  void starInDatabaseMatchesNoDot() {
    Mapping mapping = of(List.of("x*y.c"), List.of());
    assertThat(mapping.destination("x.zy.c")).isNull();
    assertThat(mapping.destination("xzy.c")).isNotNull();
    assertThat(mapping.concerns("x")).isFalse();
    assertThat(mapping.concerns("xzy")).isTrue();
    assertThat(of(List.of("x.*c"), List.of()).destination("x.a.c")).isNotNull();
  }

  @Test
  void renamesCollectionsAndDatabases() {
    Mapping mapping = renaming(Map.of("shop", "store", "shop.orders", "archive.old"));
    assertThat(mapping.destination("shop.orders")).isEqualTo("archive.old");
    assertThat(mapping.destination("shop.people")).isEqualTo("store.people");
    assertThat(mapping.destination("shop.system.buckets.orders"))
        .isEqualTo("archive.system.buckets.old");
    assertThat(mapping.destination("other.people")).isEqualTo("other.people");
    assertThat(mapping.splits("shop")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a=b.c",
        "a.b=c",
        "a.*=b.c",
        "a=admin",
        "=b",
        "a.=b.c",
        "a=b/c",
        "a.b=a.$c",
        "a.b=a.system.c"
      })
  void rejectsMalformedRenames(String rename) {
    String[] names = rename.split("=", -1);
    assertThatThrownBy(() -> renaming(Map.of(names[0], names[1])))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void rejectsTwoCollectionsWithOneName() {
    assertThatThrownBy(() -> renaming(Map.of("a.b", "x.y", "a.c", "x.y")))
        .hasMessageContaining("both become x.y");
  }

  @Test
  void filtersNeedWholeDocuments() {
    Mapping mapping =
        new Mapping(
            List.of(), List.of(), Map.of(), Map.of("a.b", BsonDocument.parse("{x: 1}")), null);
    assertThat(mapping.needsWholeDocuments("a.b")).isTrue();
    assertThat(mapping.needsWholeDocuments("a.c")).isFalse();
    assertThat(mapping.filter("a.c")).isNull();
    assertThatThrownBy(
            () ->
                new Mapping(List.of(), List.of(), Map.of(), Map.of("a", new BsonDocument()), null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void transformationMustKeepId() {
    Mapping mapping =
        new Mapping(
            List.of(),
            List.of(),
            Map.of(),
            Map.of(),
            (namespace, document) -> BsonDocument.parse("{_id: 1, a: 1}"));
    assertThat(mapping.transformed("d.c", RawBsonDocument.parse("{_id: 1}"))).hasSize(2);
    assertThatThrownBy(() -> mapping.transformed("d.c", RawBsonDocument.parse("{_id: 2}")))
        .hasMessage("the transformation of d.c does not keep the _id");
  }

  @Test
  void invertedMappingRestoresNames() {
    Mapping there =
        new Mapping(
            List.of("shop*", "a"),
            List.of("shop.tmp*", "a.secret"),
            Map.of("shop", "store", "shop.orders", "archive.old"),
            Map.of(),
            null);
    Mapping back = there.inverted();
    for (String name : List.of("shop.people", "shop.orders", "shopping.c", "a.b")) {
      String renamed = there.destination(name);
      assertThat(renamed).isNotNull();
      assertThat(back.destination(renamed)).isEqualTo(name);
      assertThat(back.concerns(Mapping.databaseOf(renamed))).isTrue();
      assertThat(back.databases(Mapping.databaseOf(renamed))).contains(Mapping.databaseOf(name));
      assertThat(there.databases(Mapping.databaseOf(name))).contains(Mapping.databaseOf(renamed));
    }
    for (String none :
        List.of("shop.people", "store.orders", "store.tmp1", "a.secret", "archive.new", "b.c")) {
      assertThat(back.destination(none)).as(none).isNull();
    }
    assertThat(back.destination("store.system.buckets.t")).isEqualTo("shop.system.buckets.t");
    assertThat(back.concerns("shop")).isFalse();
    assertThat(back.concerns("b")).isFalse();
    assertThat(back.splits("store")).isTrue();
    // The source may also have a database named store, so two databases may map to this name.
    assertThat(renaming(Map.of("shop", "store")).inverted().splits("store")).isTrue();
    assertThat(renaming(Map.of("shop", "store")).inverted().splits("shopping")).isFalse();
    assertThat(back.inverted()).isEqualTo(there);
  }

  @Test
  void excludesStateOfCopies() {
    assertThat(Mapping.ALL.destination("onehop_copy.jobs")).isNull();
    assertThat(Mapping.ALL.concerns("onehop_copy")).isFalse();
    assertThat(Mapping.ALL.inverted().concerns("onehop_copy")).isFalse();
  }
}
