package dev.onehop.flink.table;

import com.mongodb.ConnectionString;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.api.config.TableConfigOptions;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/**
 * The connector {@code onehop-mongodb} of Flink SQL. Flink finds it by {@link
 * java.util.ServiceLoader}. Options with the same meaning as in Flink CDC's {@code mongodb-cdc}
 * have the same names.
 */
public final class OneHopTableFactory implements DynamicTableSourceFactory {
  private static final ConfigOption<String> URI = text("uri").noDefaultValue();
  private static final ConfigOption<String> SCHEME = text("scheme").defaultValue("mongodb");
  private static final ConfigOption<String> HOSTS = text("hosts").noDefaultValue();
  private static final ConfigOption<String> USERNAME = text("username").noDefaultValue();
  private static final ConfigOption<String> PASSWORD = text("password").noDefaultValue();
  private static final ConfigOption<String> CONNECTION_OPTIONS =
      text("connection.options").noDefaultValue();
  private static final ConfigOption<String> DATABASE = text("database").noDefaultValue();
  private static final ConfigOption<String> COLLECTION = text("collection").noDefaultValue();
  private static final ConfigOption<String> MODE = text("scan.startup.mode").noDefaultValue();
  private static final ConfigOption<Long> TIMESTAMP =
      ConfigOptions.key("scan.startup.timestamp-millis").longType().noDefaultValue();
  private static final ConfigOption<Boolean> FULL =
      ConfigOptions.key("scan.full-changelog").booleanType().defaultValue(false);
  private static final ConfigOption<Integer> BATCH_SIZE =
      ConfigOptions.key("batch.size").intType().defaultValue(1_000);
  private static final ConfigOption<Integer> SPLITS =
      ConfigOptions.key("scan.splits-per-shard").intType().defaultValue(1);

  private static final Set<ConfigOption<String>> PARTS_OF_URI =
      Set.of(HOSTS, USERNAME, PASSWORD, CONNECTION_OPTIONS);
  private static final Pattern REGULAR_EXPRESSION = Pattern.compile("[*|^()\\[\\]?\\\\]");
  private static final long MILLIS = 1_000;

  private static ConfigOptions.TypedConfigOptionBuilder<String> text(String key) {
    return ConfigOptions.key(key).stringType();
  }

  @Override
  public String factoryIdentifier() {
    return "onehop-mongodb";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(DATABASE, COLLECTION, MODE);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of(
        URI,
        SCHEME,
        HOSTS,
        USERNAME,
        PASSWORD,
        CONNECTION_OPTIONS,
        TIMESTAMP,
        FULL,
        BATCH_SIZE,
        SPLITS);
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    ReadableConfig options = helper.getOptions();
    ZoneId zone = zone(context.getConfiguration());
    DataType columns = columns(context.getCatalogTable().getResolvedSchema(), zone);
    return new ChangesTable(
        new ChangesTable.Settings(
            uri(options),
            name(options, DATABASE),
            name(options, COLLECTION),
            options.get(FULL),
            startSeconds(options),
            atLeast(0, options, BATCH_SIZE),
            atLeast(1, options, SPLITS)),
        columns,
        zone);
  }

  private static ZoneId zone(ReadableConfig configuration) {
    String zone = configuration.get(TableConfigOptions.LOCAL_TIME_ZONE);
    return TableConfigOptions.LOCAL_TIME_ZONE.defaultValue().equals(zone)
        ? ZoneId.systemDefault()
        : ZoneId.of(zone);
  }

  private static DataType columns(ResolvedSchema schema, ZoneId zone) {
    if (schema.getPrimaryKey().map(key -> !key.getColumns().equals(List.of("_id"))).orElse(true)) {
      throw new ValidationException(
          "the table needs the primary key of the collection: PRIMARY KEY (_id) NOT ENFORCED");
    }
    DataType columns = schema.toPhysicalRowDataType();
    RowType type = (RowType) columns.getLogicalType();
    RowConverter.of(type, "", zone);
    LogicalType id = type.getTypeAt(type.getFieldIndex("_id"));
    if (id.is(LogicalTypeRoot.ARRAY) || id.is(LogicalTypeRoot.MAP)) {
      throw new ValidationException("the type of _id can't be " + id.asSummaryString());
    }
    return columns;
  }

  private static String uri(ReadableConfig options) {
    String uri = options.get(URI);
    if ((uri == null) == (options.get(HOSTS) == null)) {
      throw new ValidationException("the table needs exactly one of the options 'uri' and 'hosts'");
    }
    if (uri == null) {
      uri = uriOfParts(options);
    } else if (PARTS_OF_URI.stream().anyMatch(part -> options.getOptional(part).isPresent())) {
      throw new ValidationException(
          "'uri' excludes 'username', 'password' and 'connection.options': write these values into"
              + " the URI");
    }
    try {
      return new ConnectionString(uri).getConnectionString();
    } catch (IllegalArgumentException malformed) {
      throw new ValidationException("the cluster's address is malformed", malformed);
    }
  }

  private static String uriOfParts(ReadableConfig options) {
    String user = options.get(USERNAME);
    String password = options.get(PASSWORD);
    String more = options.get(CONNECTION_OPTIONS);
    StringBuilder uri = new StringBuilder(options.get(SCHEME)).append("://");
    if (user != null) {
      uri.append(encoded(user));
      if (password != null) {
        uri.append(':').append(encoded(password));
      }
      uri.append('@');
    }
    uri.append(options.get(HOSTS)).append('/');
    return more == null ? uri.toString() : uri.append('?').append(more).toString();
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static String name(ReadableConfig options, ConfigOption<String> option) {
    String name = options.get(option);
    if (REGULAR_EXPRESSION.matcher(name).find()) {
      throw new ValidationException(
          "'%s' must be one name, not a regular expression: %s".formatted(option.key(), name));
    }
    return name;
  }

  private static @Nullable Long startSeconds(ReadableConfig options) {
    String mode = options.get(MODE);
    Long millis = options.get(TIMESTAMP);
    if (mode.equals("timestamp") != (millis != null)) {
      throw new ValidationException(
          "'scan.startup.mode' = 'timestamp' and 'scan.startup.timestamp-millis'"
              + " require each other");
    }
    return switch (mode) {
      case "latest-offset" -> null;
      case "timestamp" -> millis / MILLIS;
      default ->
          throw new ValidationException(
              "'scan.startup.mode' must be 'latest-offset' or 'timestamp', not '"
                  + mode
                  + "': the source takes no snapshot. Copy the documents first, then start with"
                  + " 'timestamp' at a time before the copy");
    };
  }

  private static int atLeast(int least, ReadableConfig options, ConfigOption<Integer> option) {
    int value = options.get(option);
    if (value < least) {
      throw new ValidationException("'%s' must be at least %d".formatted(option.key(), least));
    }
    return value;
  }
}
