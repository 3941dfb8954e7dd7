package dev.onehop.flink.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.ValidationException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Flink finds the connector, checks its options and plans a query. There is no server. */
class OneHopTableFactoryTest {
  private static final String COLUMNS =
      """
      _id STRING, customer STRING, amount DECIMAL(10, 2),
      changed TIMESTAMP_LTZ(3) METADATA FROM 'op_ts' VIRTUAL,
      place STRING METADATA FROM 'collection_name' VIRTUAL,
      PRIMARY KEY (_id) NOT ENFORCED""";

  private final TableEnvironment tables =
      TableEnvironment.create(EnvironmentSettings.inStreamingMode());
  private final Map<String, String> options = new LinkedHashMap<>();

  @BeforeEach
  void setUsualOptions() {
    options.put("connector", "onehop-mongodb");
    options.put("hosts", "mongos1,mongos2:27018");
    options.put("database", "shop");
    options.put("collection", "orders");
    options.put("scan.startup.mode", "latest-offset");
  }

  private String plan(String columns, String query) {
    String with =
        options.entrySet().stream()
            .map(option -> "'%s' = '%s'".formatted(option.getKey(), option.getValue()))
            .collect(Collectors.joining(", "));
    tables.executeSql("CREATE TABLE orders (%s) WITH (%s)".formatted(columns, with));
    return tables.explainSql(query);
  }

  private void assertRejected(String columns, String message) {
    assertThatThrownBy(() -> plan(columns, "SELECT * FROM orders"))
        .isInstanceOf(ValidationException.class)
        .hasStackTraceContaining(message);
  }

  @Test
  void flinkNormalizesUpserts() {
    assertThat(plan(COLUMNS, "SELECT COUNT(*), SUM(amount) FROM orders"))
        .contains("ChangelogNormalize(key=[_id]")
        .contains("project=[amount, _id], metadata=[]");
  }

  @Test
  void fullChangelogNeedsNoState() {
    options.put("scan.full-changelog", "true");
    assertThat(plan(COLUMNS, "SELECT customer, changed FROM orders"))
        .doesNotContain("ChangelogNormalize")
        .contains("project=[customer], metadata=[op_ts]");
  }

  @Test
  void tableUsesWatermarksOfSource() {
    assertThat(
            plan(
                COLUMNS + ", WATERMARK FOR changed AS SOURCE_WATERMARK()",
                "SELECT changed FROM orders"))
        .contains("watermark=[SOURCE_WATERMARK()]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      quoteCharacter = '`',
      value = {
        "uri | mongodb://a/ | one of the options 'uri' and 'hosts'",
        "hosts | - | one of the options 'uri' and 'hosts'",
        "hosts | :x: | the cluster's address is malformed",
        "database | - | Missing required options are:",
        "scan.startup.mode | - | Missing required options are:",
        "scan.startup.mode | timestamp | require each other",
        "scan.startup.timestamp-millis | 5 | require each other",
        "scan.startup.mode | initial | the source takes no snapshot. Copy the documents first",
        "collection | ord.* | must be one name, not a regular expression: ord.*",
        "batch.size | -1 | 'batch.size' must be at least 0",
        "scan.splits-per-shard | 0 | 'scan.splits-per-shard' must be at least 1",
        "heartbeat.interval.ms | 100 | Unsupported options:",
      })
  void rejectsInvalidOption(String option, String value, String message) {
    options.put(option, value);
    options.values().removeIf(given -> given == null);
    assertRejected(COLUMNS, message);
  }

  @Test
  void rejectsOptionsThatBelongInUri() {
    options.remove("hosts");
    options.put("uri", "mongodb://mongos1/");
    options.put("username", "me");
    assertRejected(COLUMNS, "write these values into the URI");
  }

  @Test
  void acceptsStartTime() {
    options.put("scan.startup.mode", "timestamp");
    options.put("scan.startup.timestamp-millis", "1767323045678");
    assertThat(plan(COLUMNS, "SELECT * FROM orders")).contains("orders");
  }

  @Test
  void acceptsSpecialCharactersInCredentials() {
    options.put("username", "a@b");
    options.put("password", "p/w:1 2");
    options.put("connection.options", "tls=true&authSource=admin");
    assertThat(plan(COLUMNS, "SELECT * FROM orders")).contains("orders");
  }

  @Test
  void primaryKeyMustBeId() {
    assertRejected("_id STRING", "PRIMARY KEY (_id) NOT ENFORCED");
    tables.executeSql("DROP TABLE orders");
    assertRejected(
        "_id STRING, a STRING, PRIMARY KEY (a) NOT ENFORCED", "PRIMARY KEY (_id) NOT ENFORCED");
    tables.executeSql("DROP TABLE orders");
    assertRejected(
        "_id ARRAY<INT>, PRIMARY KEY (_id) NOT ENFORCED",
        "the type of _id can't be ARRAY<INT> NOT NULL");
  }

  @Test
  void rejectsUnsupportedType() {
    assertRejected(
        "_id STRING, d TIMESTAMP(3), PRIMARY KEY (_id) NOT ENFORCED", "d can't be TIMESTAMP(3)");
  }
}
