package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BindingOptionsTest {

  @Test
  void hasDefaultsOfUpstream() {
    BindingOptions options = options();

    assertThat(options.url().getConnectionString()).isEqualTo("mongodb://localhost:27017/ycsb?w=1");
    assertThat(options.database()).isEqualTo("ycsb");
    assertThat(options.batchSize()).isEqualTo(1);
    assertThat(options.upsert()).isFalse();
    assertThat(options.warmup()).isZero();
    assertThat(options.summary()).isNull();
    assertThat(options.clientSettings().getWriteConcern()).isEqualTo(WriteConcern.W1);
    assertThat(options.clientSettings().getConnectionPoolSettings().getMaxSize()).isEqualTo(100);
  }

  @Test
  void readsEveryProperty() {
    BindingOptions options =
        options(
            "mongodb.url", "mongodb://a:1,b:2/shop",
            "mongodb.batchsize", "100",
            "mongodb.upsert", "TRUE",
            "onehop.connections", " 5 ",
            "onehop.warmup", "2500",
            "onehop.summary", "out/summary.json");

    assertThat(options.hosts()).isEqualTo("a:1,b:2");
    assertThat(options.database()).isEqualTo("shop");
    assertThat(options.batchSize()).isEqualTo(100);
    assertThat(options.upsert()).isTrue();
    assertThat(options.warmup()).isEqualTo(Duration.ofMillis(2500));
    assertThat(options.summary()).isEqualTo(Path.of("out/summary.json"));
    assertThat(options.clientSettings().getConnectionPoolSettings().getMaxSize()).isEqualTo(5);
  }

  @ParameterizedTest
  @CsvSource({
    "mongodb://h/, ycsb",
    "mongodb://h/admin, ycsb",
    "mongodb://h/shop, shop",
    "mongodb://h/shop.table, shop"
  })
  void readsDatabaseFromUrl(String url, String database) {
    assertThat(options("mongodb.url", url).database()).isEqualTo(database);
  }

  @ParameterizedTest
  @CsvSource({
    "unacknowledged, 0",
    "errors_ignored, 0",
    "acknowledged, 1",
    "replica_acknowledged, 2",
    "MAJORITY, majority"
  })
  void deprecatedWriteConcernsAreTranslated(String word, String w) {
    WriteConcern concern =
        options("mongodb.writeConcern", word, "mongodb.url", "mongodb://h/ycsb")
            .clientSettings()
            .getWriteConcern();

    assertThat(String.valueOf(concern.getWObject())).isEqualTo(w);
  }

  @Test
  void deprecatedJournaledSetsJournal() {
    assertThat(
            options("mongodb.writeConcern", "journaled")
                .clientSettings()
                .getWriteConcern()
                .getJournal())
        .isTrue();
  }

  @Test
  void deprecatedReadPreferenceIsTranslated() {
    assertThat(
            options("mongodb.readPreference", "secondary_preferred")
                .clientSettings()
                .getReadPreference())
        .isEqualTo(ReadPreference.secondaryPreferred());
  }

  @Test
  void urlOptionsOverrideDeprecatedProperties() {
    MongoClientSettings settings =
        options(
                "mongodb.url",
                "mongodb://h/?w=majority&readPreference=nearest&maxPoolSize=7",
                "mongodb.writeConcern",
                "acknowledged",
                "mongodb.readPreference",
                "primary",
                "mongodb.maxconnections",
                "9")
            .clientSettings();

    assertThat(settings.getWriteConcern()).isEqualTo(WriteConcern.MAJORITY);
    assertThat(settings.getReadPreference()).isEqualTo(ReadPreference.nearest());
    assertThat(settings.getConnectionPoolSettings().getMaxSize()).isEqualTo(7);
  }

  @Test
  void deprecatedWriteConcernOverridesDefaultUrl() {
    assertThat(options("mongodb.writeConcern", "majority").clientSettings().getWriteConcern())
        .isEqualTo(WriteConcern.MAJORITY);
  }

  @Test
  void connectionsOverrideUrlAndDeprecatedProperty() {
    assertThat(
            options(
                    "mongodb.url", "mongodb://h/?maxPoolSize=7",
                    "mongodb.maxconnections", "9",
                    "onehop.connections", "5")
                .clientSettings()
                .getConnectionPoolSettings()
                .getMaxSize())
        .isEqualTo(5);
    assertThat(
            options("mongodb.maxconnections", "9")
                .clientSettings()
                .getConnectionPoolSettings()
                .getMaxSize())
        .isEqualTo(9);
  }

  @ParameterizedTest
  @CsvSource({
    "mongodb.batchsize, 0",
    "mongodb.batchsize, ten",
    "mongodb.upsert, yes",
    "mongodb.url, http://localhost",
    "mongodb.url, mongodb://",
    "mongodb.writeConcern, most",
    "mongodb.readPreference, far",
    "mongodb.maxconnections, -1",
    "onehop.connections, 0",
    "onehop.connections, 99999999999",
    "onehop.warmup, -1",
    "onehop.warmup, 2s"
  })
  void rejectsWrongValueWithPropertyName(String name, String value) {
    assertThatThrownBy(() -> options(name, value))
        .isInstanceOf(InvalidPropertyException.class)
        .message()
        .contains(name)
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @CsvSource({"mongodb.urll", "onehop.conections"})
  void rejectsMisspeltProperty(String name) {
    assertThatThrownBy(() -> options(name, "1"))
        .isInstanceOf(InvalidPropertyException.class)
        .hasMessageContaining("unknown property " + name);
  }

  @Test
  void ignoresPropertiesOfYcsb() {
    assertThat(options("recordcount", "5", "db", "x").batchSize()).isEqualTo(1);
  }

  @Test
  void rejectsFewerConnectionsThanMinimum() {
    assertThatThrownBy(
            () -> options("mongodb.url", "mongodb://h/?minPoolSize=8", "onehop.connections", "5"))
        .isInstanceOf(InvalidPropertyException.class)
        .hasMessageContaining("at least 8");
  }

  private static BindingOptions options(String... namesAndValues) {
    Properties properties = new Properties();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
    }
    return BindingOptions.of(properties);
  }
}
