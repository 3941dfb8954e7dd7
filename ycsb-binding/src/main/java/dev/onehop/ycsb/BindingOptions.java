package dev.onehop.ycsb;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import dev.onehop.routing.transport.PipeliningSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * What a run's properties say, the same for every binding.
 *
 * @param url the cluster's connection string
 * @param batchSize documents per bulk insert; 1 inserts each on its own
 * @param upsert whether an insert replaces a record that is already there
 * @param connections the pool's size per server, or null for the URL's or the driver's default
 * @param pipelining whether many requests are in flight on each connection
 * @param writeConcern from the deprecated property, or null: as in the URL
 * @param readPreference from the deprecated property, or null: as in the URL
 * @param warmup how long the threads read before anything is measured
 * @param leastWarmup how long they do so if the rate of that is steady sooner; null if it is not
 *     judged
 * @param summary where the run's summary goes, or null for nowhere
 */
record BindingOptions(
    ConnectionString url,
    int batchSize,
    boolean upsert,
    @Nullable Integer connections,
    boolean pipelining,
    @Nullable WriteConcern writeConcern,
    @Nullable ReadPreference readPreference,
    Duration warmup,
    @Nullable Duration leastWarmup,
    @Nullable Path summary) {

  static final String URL = "mongodb.url";
  static final String BATCH_SIZE = "mongodb.batchsize";
  static final String UPSERT = "mongodb.upsert";
  static final String WRITE_CONCERN = "mongodb.writeConcern";
  static final String READ_PREFERENCE = "mongodb.readPreference";
  static final String MAX_CONNECTIONS = "mongodb.maxconnections";
  static final String CONNECTIONS = "onehop.connections";
  static final String PIPELINING = "onehop.pipelining";
  static final String WARMUP = "onehop.warmup";
  static final String LEAST_WARMUP = "onehop.warmup.least";
  static final String SUMMARY = "onehop.summary";

  // As deep as a closed loop of some hundred threads can need.
  private static final int IN_FLIGHT_PER_SOCKET = 256;

  private static final String DEFAULT_URL = "mongodb://localhost:27017/ycsb?w=1";
  private static final String DEFAULT_DATABASE = "ycsb";

  /**
   * Reads the options from a run's properties.
   *
   * <p>As in YCSB's own binding an option of a given URL wins over the deprecated property of the
   * same meaning. {@code onehop.connections} wins over both.
   *
   * @throws InvalidPropertyException if a value can't be taken, or an {@code onehop.} or {@code
   *     mongodb.} property is not known
   */
  static BindingOptions of(Properties properties) {
    PropertyReader reader = new PropertyReader(properties);
    reader.rejectUnknown();
    String given = reader.text(URL);
    ConnectionString url = parse(given == null ? DEFAULT_URL : given);
    Integer connections = reader.positive(CONNECTIONS);
    if (connections == null && url.getMaxConnectionPoolSize() == null) {
      connections = reader.positive(MAX_CONNECTIONS);
    }
    Integer least = url.getMinConnectionPoolSize();
    if (connections != null && least != null && least > connections) {
      throw new InvalidPropertyException(
          "%s asks for at least %d connections, %s for at most %d"
              .formatted(URL, least, CONNECTIONS, connections));
    }
    WriteConcern writeConcern = reader.writeConcern(WRITE_CONCERN);
    ReadPreference readPreference = reader.readPreference(READ_PREFERENCE);
    Integer batchSize = reader.positive(BATCH_SIZE);
    String summary = reader.text(SUMMARY);
    return new BindingOptions(
        url,
        batchSize == null ? 1 : batchSize,
        reader.flag(UPSERT),
        connections,
        reader.flag(PIPELINING),
        given != null && url.getWriteConcern() != null ? null : writeConcern,
        given != null && url.getReadPreference() != null ? null : readPreference,
        reader.millis(WARMUP),
        reader.text(LEAST_WARMUP) == null ? null : reader.millis(LEAST_WARMUP),
        summary == null ? null : Path.of(summary));
  }

  /** The warm-up, if it begins now. */
  WarmupTime warmupFromNow() {
    return leastWarmup == null
        ? WarmupTime.fixed(warmup)
        : WarmupTime.untilSteady(leastWarmup, warmup);
  }

  /** The database YCSB's tables are in: the URL's, unless it names none or {@code admin}. */
  String database() {
    String named = url.getDatabase();
    return named == null || named.isEmpty() || named.equals("admin") ? DEFAULT_DATABASE : named;
  }

  /** The URL's hosts, for messages: never its credentials. */
  String hosts() {
    return String.join(",", url.getHosts());
  }

  /** Settings for a client of these options. */
  MongoClientSettings clientSettings() {
    MongoClientSettings.Builder settings = MongoClientSettings.builder().applyConnectionString(url);
    applyTo(settings);
    return settings.build();
  }

  /** Adds what the options say beyond the URL to settings that have the URL already. */
  void applyTo(MongoClientSettings.Builder settings) {
    // With pipelining, connections are sockets, and the pool's size follows from their depth.
    if (connections != null && !pipelining) {
      settings.applyToConnectionPoolSettings(pool -> pool.maxSize(connections));
    }
    if (writeConcern != null) {
      settings.writeConcern(writeConcern);
    }
    if (readPreference != null) {
      settings.readPreference(readPreference);
    }
  }

  /** For the synchronous driver. */
  void refusePipelining() {
    if (pipelining) {
      throw new InvalidPropertyException(
          PIPELINING + ": the sync driver has one request in flight per connection");
    }
  }

  /** Sets how many sockets are shared, and how deep, if {@link #pipelining} is on. */
  void applyTo(PipeliningSettings.Builder settings) {
    Integer sockets = connections == null ? url.getMaxConnectionPoolSize() : connections;
    if (sockets != null) {
      settings.socketsPerServer(sockets);
    }
    settings.maxInFlightPerSocket(IN_FLIGHT_PER_SOCKET);
  }

  private static ConnectionString parse(String url) {
    try {
      return new ConnectionString(url);
    } catch (IllegalArgumentException | MongoException e) {
      throw new InvalidPropertyException(URL + ": " + Failures.oneLine(e), e);
    }
  }
}
