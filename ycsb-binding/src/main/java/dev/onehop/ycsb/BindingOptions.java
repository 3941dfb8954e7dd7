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
 * The options of a run, which are the same for every binding.
 *
 * @param url the cluster's connection string
 * @param batchSize documents per bulk insert; 1 inserts each document separately
 * @param upsert whether an insert replaces an existing record
 * @param connections the pool's size for each server; null for the size of the URL or the driver's
 *     default
 * @param pipelining whether many requests are in flight on each connection
 * @param writeConcern the write concern of the deprecated property; null for the write concern of
 *     the URL
 * @param readPreference the read preference of the deprecated property; null for the read
 *     preference of the URL
 * @param warmup the longest warm-up before the measurement
 * @param leastWarmup the time after which the warm-up ends if its rate is steady; null for a
 *     warm-up of fixed length
 * @param summary the file for the run's summary; null for no file
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

  // Sufficient for a closed loop of some hundred threads.
  private static final int IN_FLIGHT_PER_SOCKET = 256;

  private static final String DEFAULT_URL = "mongodb://localhost:27017/ycsb?w=1";
  private static final String DEFAULT_DATABASE = "ycsb";

  /**
   * Reads the options from a run's properties.
   *
   * <p>As in YCSB's own binding an option of the URL has precedence over the deprecated property of
   * the same meaning. {@code onehop.connections} has precedence over both.
   *
   * @throws InvalidPropertyException if a value is invalid, or an {@code onehop.} or {@code
   *     mongodb.} property is unknown
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
          "%s asks for at least %d connections, but %s allows only %d"
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

  /** A warm-up that starts now. */
  WarmupTime warmupFromNow() {
    return leastWarmup == null
        ? WarmupTime.fixed(warmup)
        : WarmupTime.untilSteady(leastWarmup, warmup);
  }

  /**
   * The database of YCSB's tables: the database of the URL, or the default if the URL has none or
   * {@code admin}.
   */
  String database() {
    String named = url.getDatabase();
    return named == null || named.isEmpty() || named.equals("admin") ? DEFAULT_DATABASE : named;
  }

  /** The URL's hosts without the credentials, for messages. */
  String hosts() {
    return String.join(",", url.getHosts());
  }

  /** Settings for a client with these options. */
  MongoClientSettings clientSettings() {
    MongoClientSettings.Builder settings = MongoClientSettings.builder().applyConnectionString(url);
    applyTo(settings);
    return settings.build();
  }

  /** Adds the options to settings that contain the URL already. */
  void applyTo(MongoClientSettings.Builder settings) {
    // With pipelining, connections is the number of sockets, which is part of the pipelining
    // settings.
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

  /** Refuses pipelining, for bindings with the synchronous driver. */
  void refusePipelining() {
    if (pipelining) {
      throw new InvalidPropertyException(
          PIPELINING + " needs a reactive driver: the sync driver has one request per connection");
    }
  }

  /** Sets the number of shared sockets and their requests in flight, for {@link #pipelining}. */
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
